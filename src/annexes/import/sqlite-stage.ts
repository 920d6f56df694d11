import { type Database, SQLiteError } from "bun:sqlite";
import { AppError } from "../../domain/errors.ts";
import type { ImportCounts, ImportStage, StagedAnimal } from "../../storage/contract.ts";

/** Page cache while an import runs, in KiB: the index of external ids is walked in order, so that little is enough. */
const catalogueCacheKib = 8_192;
const stageCacheKib = 8_192;

/**
 * So many animals are taken over in the order of the input, which an operator will expect of a file that a person can
 * read. More than these go in the order of their external ids: their index would not stay in memory, and in any other
 * order nearly each animal would rewrite a page of it (measured for a million: 1.4 and 18 microseconds an animal).
 */
const inputOrderMax = 100_000;

const schema = `
CREATE TEMP TABLE staged (
  seq INTEGER PRIMARY KEY,
  external_id TEXT,
  version INTEGER NOT NULL,
  withdrawn INTEGER NOT NULL,
  name TEXT NOT NULL,
  category_id INTEGER,
  category_key INTEGER,
  status TEXT
) STRICT;
CREATE TEMP TABLE category_ids (key INTEGER PRIMARY KEY, id INTEGER NOT NULL) STRICT;
CREATE TEMP TABLE ready (
  position INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  category_id INTEGER NOT NULL,
  status TEXT,
  external_id TEXT
) STRICT`;

const tables = ["staged", "category_ids", "ready"];

const stageAnimal = `
INSERT INTO temp.staged (external_id, version, withdrawn, name, category_id, category_key, status)
VALUES (?, ?, ?, ?, ?, ?, ?)`;

const arrangeAll = (order: string) => `
INSERT INTO temp.ready (name, category_id, status, external_id)
SELECT name, known_id, status, external_id
FROM (
  SELECT *, coalesce(category_id, (SELECT id FROM temp.category_ids WHERE key = category_key)) AS known_id
  FROM (
    SELECT *, row_number() OVER (PARTITION BY external_id ORDER BY version DESC, seq DESC) AS age
    FROM temp.staged WHERE external_id IS NOT NULL
    UNION ALL
    SELECT *, 1 FROM temp.staged WHERE external_id IS NULL
  )
  WHERE age = 1 AND NOT withdrawn
)
WHERE known_id IS NOT NULL
${order}`;

const differs =
  "(pets.name, pets.category_id, pets.status) IS NOT (ready.name, ready.category_id, ready.status)";
const compareRange = `
SELECT count(*) AS known, coalesce(sum(${differs}), 0) AS changed
FROM temp.ready JOIN pets ON (pets.source, pets.external_id) = ('', ready.external_id)
WHERE position BETWEEN ? AND ?`;

// An upsert would do, but it uses up an id for each animal that it only updates.
const insertRange = `
INSERT INTO pets (name, category_id, status, external_id)
SELECT name, category_id, status, external_id FROM temp.ready
WHERE position BETWEEN ? AND ? AND NOT EXISTS (SELECT 1 FROM pets WHERE (pets.source, pets.external_id) = ('', ready.external_id))
ORDER BY position`;

const updateRange = `
UPDATE pets SET name = ready.name, category_id = ready.category_id, status = ready.status
FROM temp.ready
WHERE position BETWEEN ? AND ? AND (pets.source, pets.external_id) = ('', ready.external_id) AND ${differs}`;

/**
 * Keeps the animals in temporary tables, which SQLite holds in a file without a name: it takes no lock on the catalogue
 * and cannot be left behind. Written in SQL, because most of it has no form in the query builder, and a million rows
 * pass through it.
 */
export function beginImport(db: Database, onChange: () => void): ImportStage {
  db.run("PRAGMA temp_store = FILE");
  db.run(`PRAGMA main.cache_size = -${catalogueCacheKib}`);
  db.run(schema);
  db.run(`PRAGMA temp.cache_size = -${stageCacheKib}`);
  return new SqliteImportStage(db, onChange);
}

class SqliteImportStage implements ImportStage {
  readonly #db: Database;
  readonly #add: (animals: readonly StagedAnimal[]) => void;
  readonly #onChange: () => void;
  readonly #take: { immediate(first: number, last: number): ImportCounts };
  #size = 0;
  #taken = 0;

  constructor(db: Database, onChange: () => void) {
    this.#db = db;
    this.#onChange = onChange;
    const stage = db.prepare(stageAnimal);
    this.#add = db.transaction((animals: readonly StagedAnimal[]) => {
      for (const animal of animals) {
        stage.run(
          animal.externalId ?? null,
          animal.version,
          animal.withdrawn ? 1 : 0,
          animal.name,
          animal.categoryId ?? null,
          animal.categoryKey ?? null,
          animal.status ?? null,
        );
      }
    });
    const insert = db.prepare(insertRange);
    const update = db.prepare(updateRange);
    this.#take = db.transaction((first: number, last: number) => {
      const counts = this.#compare(first, last);
      if (counts.updated > 0) update.run(first, last);
      if (counts.added > 0) insert.run(first, last);
      return counts;
    });
  }

  add(animals: readonly StagedAnimal[]): void {
    keepingAside(() => this.#add(animals));
  }

  arrange(categoryIds: readonly (bigint | undefined)[]): number {
    return keepingAside(() => this.#arrange(categoryIds));
  }

  #arrange(categoryIds: readonly (bigint | undefined)[]): number {
    const insert = this.#db.prepare("INSERT INTO temp.category_ids (key, id) VALUES (?, ?)");
    this.#db.transaction(() => {
      for (const [key, id] of categoryIds.entries()) if (id !== undefined) insert.run(key, id);
    })();
    const staged = this.#count("staged");
    this.#db.run(arrangeAll(staged > inputOrderMax ? "" : "ORDER BY seq"));
    this.#db.run("DELETE FROM temp.staged");
    this.#size = this.#count("ready");
    return this.#size;
  }

  compare(): ImportCounts {
    return this.#compare(1, this.#size);
  }

  takeOver(count: number): ImportCounts | undefined {
    if (this.#taken === this.#size) return undefined;
    const first = this.#taken + 1;
    const last = Math.min(this.#taken + count, this.#size);
    const counts = this.#take.immediate(first, last);
    this.#taken = last;
    this.#onChange();
    return counts;
  }

  close(): void {
    for (const table of tables) this.#db.run(`DROP TABLE temp.${table}`);
  }

  #compare(first: number, last: number): ImportCounts {
    const row = this.#db
      .query<{ known: bigint; changed: bigint }, [number, number]>(compareRange)
      .get(first, last);
    const known = Number(row?.known ?? 0);
    const updated = Number(row?.changed ?? 0);
    return { added: last - first + 1 - known, updated, unchanged: known - updated };
  }

  #count(table: string): number {
    const row = this.#db.query<{ rows: bigint }, []>(`SELECT count(*) AS rows FROM temp.${table}`);
    return Number(row.get()?.rows ?? 0);
  }
}

/** Says of a failure to write the temporary file which file that is: the message of SQLite does not. */
function keepingAside<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof SQLiteError)) throw error;
    throw new AppError(
      "unavailable",
      `The temporary file of the import cannot be written (${error.message}); nothing was changed.`,
      { cause: error, hint: "Set TMPDIR to a folder with room for about twice the input." },
    );
  }
}
