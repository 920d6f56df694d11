import type { Category } from "../animals/categories.ts";
import { describeChange } from "./old-changes.ts";
import { AppError } from "../../domain/errors.ts";
import { petFieldNames, type PetFieldName, type PetValue } from "../../domain/pet.ts";
import type { Session } from "../../storage/contract.ts";
import { createTemporary, insert, run, sql, type Steps } from "../../storage/statement.ts";
import { isFull } from "../../storage/sqlite/connection.ts";
import { quietly } from "../../service/closing.ts";
import * as arranging from "./stage-arrange.ts";
import { categoryIds, ready, staged } from "./stage-tables.ts";
import {
  type Change,
  changeRange,
  countRange,
  nameCategories,
  resolveRange,
} from "./stage-take.ts";

/** What is known of the fields of an animal. */
type StagedFields = { readonly [N in PetFieldName]?: PetValue<N> | undefined };

/** An animal of an import that is being read. */
export interface StagedAnimal extends StagedFields {
  readonly line: number;
  /** The id that it has here, if the record says so. */
  readonly id?: bigint | undefined;
  /** Without a `categoryId`: the position of its category in `Arrangement.categoryIds`. */
  readonly categoryKey?: number | undefined;
  readonly externalId?: string | undefined;
  /** Whose id that is. */
  readonly source: string;
  /** Of two records of one animal the greater version holds; of equal ones the later. */
  readonly version: number;
  /** True for a record that says that the animal is not for adoption (any more). */
  readonly isGone: boolean;
}

/** What an import did, or would do. Animals brought back under their old id are added ones. */
export interface ImportCounts {
  readonly added: number;
  readonly updated: number;
  readonly unchanged: number;
  /** Animals taken out of the catalogue. */
  readonly withdrawn: number;
}

export interface StageOptions {
  /** Who imports, for the animals' history. */
  readonly actor: string;
  readonly nowMs: () => number;
}

/** How the staged records become animals to import. */
export interface Arrangement {
  /** Ids of categories by key; undefined for those that stayed open. */
  readonly categoryIds: readonly (bigint | undefined)[];
  /** Leaves animals in the catalogue that are gone. */
  readonly keepGone?: boolean;
  /** Takes the ids of the records for those of another catalogue, which say nothing here. */
  readonly newIds?: boolean;
  /** The source of which the records are the whole list: its other animals are gone. */
  readonly complete?: string | undefined;
}

/** A record whose id is not that of its animal here. */
export interface UnknownRecord {
  readonly line: number;
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: string | null;
}

export interface Arranged {
  /** Animals to add or to update. */
  readonly animals: number;
  /** Records of animals that are not for adoption. */
  readonly gone: number;
  /** Animals of the complete source that are not among them, and how many it has. */
  readonly missing: number;
  readonly sourceAnimals: number;
  /** Records with ids that are not those of their animals here; they are left out. */
  readonly unknownIds: number;
  /** The first of them. */
  readonly unknown: readonly UnknownRecord[];
  /** Animals whose records have different names, and the first of them. */
  readonly differentNames: number;
  readonly differentName:
    | { readonly id: string; readonly names: readonly [string, string]; readonly line: number }
    | undefined;
}

/** Begins an import on a session, which it closes. */
export async function beginStage(session: Session, options: StageOptions): Promise<ImportStage> {
  try {
    await session.aside(function* () {
      for (const table of [staged, categoryIds, ready]) yield* run(createTemporary(table));
    });
  } catch (error) {
    await quietly(() => session.close());
    throw notKeptAside(error);
  }
  return new Stage(session, options);
}

const stagedColumns = [
  "line",
  "petId",
  "externalId",
  "source",
  "version",
  "isGone",
  "categoryKey",
  ...petFieldNames,
] as const;

/**
 * Animals of an import, kept aside on disk until all of them are known to be sound. Nobody else
 * sees them, and keeping them holds no lock on the catalogue. They are gone when the process ends,
 * however it ends.
 */
export type ImportStage = Pick<Stage, keyof Stage>;

class Stage {
  readonly #session: Session;
  readonly #options: StageOptions;
  #size = 0;
  #taken = 0;
  #looks: arranging.Looks = {
    hasKnown: true,
    hasUnowned: true,
    hasRemoved: true,
    edits: -1n,
  };
  #changeId: bigint | undefined;

  constructor(session: Session, options: StageOptions) {
    this.#session = session;
    this.#options = options;
  }

  async add(animals: readonly StagedAnimal[]): Promise<void> {
    const rows = animals.map((animal) => [
      animal.line,
      animal.id ?? null,
      animal.externalId ?? null,
      animal.source,
      animal.version,
      animal.isGone ? 1 : 0,
      animal.categoryKey ?? null,
      ...petFieldNames.map((name) => animal[name] ?? null),
    ]);
    await this.#aside(() => insert({ into: staged, columns: stagedColumns, rows }));
  }

  /** Ends the adding: fills in category ids by key and keeps one record for each animal. */
  async arrange(arrangement: Arrangement): Promise<Arranged> {
    const { dialect } = this.#session;
    const { size, looks, ...arranged } = await this.#aside(() =>
      arranging.arrange(arrangement, dialect),
    );
    this.#size = size;
    this.#looks = looks;
    return arranged;
  }

  /** The categories of the animals to add or to update. */
  categoryIds(): Promise<readonly bigint[]> {
    return this.#aside(arranging.readyCategoryIds);
  }

  /** What the import of all of them would change. */
  compare(): Promise<ImportCounts> {
    const looks = this.#looks;
    const size = this.#size;
    return this.#aside(function* () {
      yield* resolveRange(1, size, looks);
      return yield* countRange(1, size);
    });
  }

  /** Names categories, as a part of the change; no name or id of them may have been given yet. */
  async addCategories(categories: readonly Category[]): Promise<void> {
    if (categories.length === 0) return;
    const change = this.#change();
    this.#changeId = await this.#session.transact(() => nameCategories(categories, change));
  }

  /** Takes the next `count` over, in one transaction. Undefined when there are no more. */
  async takeOver(count: number): Promise<ImportCounts | undefined> {
    if (this.#taken === this.#size) return undefined;
    const last = Math.min(this.#taken + count, this.#size);
    const change = this.#change();
    const { counts, changeId, looks } = await this.#session.transact(() =>
      changeRange(this.#taken + 1, last, this.#looks, change),
    );
    this.#changeId = changeId;
    this.#looks = looks;
    this.#taken = last;
    return counts;
  }

  #change(): Change {
    const { actor, nowMs } = this.#options;
    return { id: this.#changeId, actor, nowMs: nowMs() };
  }

  /** Writes down what the import came to, for the history; nothing where nothing was changed. */
  async finish(summary: Readonly<Record<string, unknown>>): Promise<void> {
    const id = this.#changeId;
    if (id !== undefined) await this.#session.transact(() => describeChange(id, summary));
  }

  async close(): Promise<void> {
    // In memory the connection is that of the store and outlives the session.
    if (this.#session.dialect === "sqlite") {
      await quietly(async () => {
        await this.#session.aside(function* () {
          for (const table of [staged, categoryIds, ready])
            yield* run(sql`DROP TABLE IF EXISTS ${table}`);
        });
      });
    }
    await this.#session.close();
  }

  async #aside<T>(work: () => Steps<T>): Promise<T> {
    try {
      return await this.#session.aside(work);
    } catch (error) {
      throw notKeptAside(error);
    }
  }
}

/** Names the temporary file that cannot be written: the message of SQLite does not. */
function notKeptAside(error: unknown): unknown {
  if (!(error instanceof AppError) || !isFull(error.cause)) return error;
  return new AppError(
    "unavailable",
    `The temporary file of the import cannot be written (${error.why ?? error.message}); nothing was changed.`,
    { cause: error, hint: "Set TMPDIR to a folder with room for about twice the input." },
  );
}
