import type { Pet } from "../../domain/pet.ts";
import { highestCategoryId, namedCategories } from "./old-categories.ts";
import type { Store } from "../../storage/contract.ts";
import { columnName } from "../../storage/declare.ts";
import { responseFields, petOfRow, type PetRow } from "../../storage/pet-row.ts";
import { raw, rows, sql, type Statement } from "../../storage/statement.ts";
import { pets } from "../../storage/tables.ts";
import { categories } from "../animals/tables.ts";
import { beginStage, type ImportStage, type StageOptions } from "./stage.ts";

/** An animal as it is written down whole. */
export interface ExportedPet extends Pet {
  readonly category?: string | undefined;
  /** The id that it has where it was imported from. */
  readonly externalId?: string | undefined;
  /** Whose id that is; empty when nobody said. */
  readonly source?: string | undefined;
}

type ExportRow = PetRow & {
  readonly category: string | null;
  readonly externalId: string | null;
  readonly source: string;
};

const petColumns = raw(
  responseFields.map((name) => `p.${columnName(name)} AS "${name}"`).join(", "),
);

const exportPage = (after: bigint, limit: number): Statement<ExportRow> => sql<ExportRow>`
  SELECT ${petColumns}, c.name AS "category", p.external_id AS "externalId", p.source AS "source"
  FROM ${pets} AS p LEFT JOIN ${categories} AS c ON c.id = p.category_id
  WHERE p.id > ${after} ORDER BY p.id LIMIT ${limit}`;

export type CatalogueStore = ReturnType<typeof catalogueOf>;

/** The animals of the catalogue that a store holds, as an import and an export see them. */
export function catalogueOf(store: Pick<Store, "read" | "session">) {
  const patient = { patient: true };
  return {
    /** At most `limit` animals in ascending id order, above `after`. */
    async exportPage(after: bigint, limit: number): Promise<ExportedPet[]> {
      const found = await store.read(() => rows(exportPage(after, limit)), patient);
      return found.map(exportedPet);
    },
    categories: () => store.read(namedCategories, patient),
    highestCategoryId: () => store.read(highestCategoryId, patient),
    async beginImport(options: StageOptions): Promise<ImportStage> {
      return beginStage(await store.session(), options);
    },
  };
}

/** The animal in a row, and what an export tells of it. */
export function exportedPet(row: ExportRow): ExportedPet {
  const { category, externalId, source } = row;
  return {
    ...petOfRow(row),
    category: category ?? undefined,
    externalId: externalId ?? undefined,
    source: source === "" ? undefined : source,
  };
}
