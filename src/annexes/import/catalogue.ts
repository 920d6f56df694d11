import { categoryKey, type Category } from "../../domain/names.ts";
import type { Pet } from "../../domain/pet.ts";
import type { Awaitable, Store } from "../../storage/contract.ts";
import { insert, row, rows, sql, type Statement } from "../../storage/statement.ts";
import { categories, pets } from "../../storage/tables.ts";
import { beginStage, type ImportStage, type StageOptions } from "./stage.ts";

/** What whole catalogues are read and written with: a store. */
export type CatalogueEngine = Pick<Store, "read" | "transact" | "session">;

/** An animal as it is written down whole. */
export interface ExportedPet extends Pet {
  /** The name of its category, if it has one. */
  readonly category?: string | undefined;
  /** The id that it has where it was imported from. */
  readonly externalId?: string | undefined;
  /** Whose id that is; empty when nobody said. */
  readonly source?: string | undefined;
}

/** Whole catalogues in and out. */
export interface CatalogueStore {
  /** At most `limit` animals in ascending id order, above `after`. */
  exportPage(after: bigint, limit: number): Awaitable<ExportedPet[]>;
  /** All named categories in the order of their ids. */
  categories(): Awaitable<Category[]>;
  /**
   * The highest id of a category that is named or that an animal carries; 0 when there is none
   * above.
   */
  highestCategoryId(): Awaitable<bigint>;
  /** Names categories, all or none. No name or id of them may have been given yet. */
  addCategories(categories: readonly Category[]): Awaitable<void>;
  beginImport(options: StageOptions): Promise<ImportStage>;
}

interface ExportRow {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: Pet["status"] | null;
  readonly category: string | null;
  readonly externalId: string | null;
  readonly source: string;
}

const exportPage = (after: bigint, limit: number): Statement<ExportRow> => sql<ExportRow>`
  SELECT p.id AS "id", p.name AS "name", p.category_id AS "categoryId", p.status AS "status",
    c.name AS "category", p.external_id AS "externalId", p.source AS "source"
  FROM ${pets} AS p LEFT JOIN ${categories} AS c ON c.id = p.category_id
  WHERE p.id > ${after} ORDER BY p.id LIMIT ${limit}`;

/** The catalogue that a store holds. */
export function catalogueOf(engine: CatalogueEngine): CatalogueStore {
  const patient = { patient: true };
  return {
    async exportPage(after, limit) {
      const found = await engine.read(() => rows(exportPage(after, limit)), patient);
      return found.map(exportedPet);
    },
    async categories() {
      const all = sql<Category>`SELECT id, name FROM ${categories} ORDER BY id`;
      const found = await engine.read(() => rows(all), patient);
      return found.map(({ id, name }) => ({ id, name }));
    },
    async highestCategoryId() {
      const highest = sql<{ id: bigint | null }>`SELECT max(id) AS id FROM (
        SELECT max(id) AS id FROM ${categories} UNION ALL SELECT max(category_id) FROM ${pets}
      ) AS highest`;
      const found = (await engine.read(() => row(highest), patient))?.id ?? 0n;
      return found > 0n ? found : 0n;
    },
    async addCategories(added) {
      await engine.transact(() =>
        insert({
          into: categories,
          columns: ["id", "name", "nameKey"],
          rows: added.map(({ id, name }) => [id, name, categoryKey(name)]),
        }),
      );
    },
    async beginImport(options) {
      const session = await engine.session();
      return await beginStage(session, options);
    },
  };
}

function exportedPet({ status, category, externalId, source, ...pet }: ExportRow): ExportedPet {
  return {
    ...pet,
    status: status ?? undefined,
    category: category ?? undefined,
    externalId: externalId ?? undefined,
    source: externalId === null || source === "" ? undefined : source,
  };
}
