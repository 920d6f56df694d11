/** The mark that a store carries once everything in it was moved elsewhere. */
import { existsSync } from "node:fs";
import { examine } from "./sqlite/inspect.ts";
import { storeFiles } from "./sqlite/files.ts";
import { row, run, sql, type Steps } from "./statement.ts";
import { storeState } from "./tables.ts";

/** The name of the mark among the facts about a store. */
export const movedMark = "moved_to";

/** Where the store moved to, as messages show it; undefined for one that is in its place. */
export function* movedTo(): Steps<string | undefined> {
  const statement = sql<{
    value: string;
  }>`SELECT value FROM ${storeState} WHERE name = ${movedMark}`;
  return (yield* row(statement))?.value;
}

/** Marks the store as moved to `place`, which must hold no password. */
export const markMoved = (place: string) =>
  function* (): Steps<void> {
    yield* run(sql`DELETE FROM ${storeState} WHERE name = ${movedMark}`);
    yield* run(sql`INSERT INTO ${storeState} (name, value) VALUES (${movedMark}, ${place})`);
  };

/**
 * Where the store in a data folder moved to, looked up without opening the store or changing its
 * schema.
 */
export function folderMovedTo(folder: string): string | undefined {
  const { catalogue } = storeFiles(folder);
  if (!existsSync(catalogue)) return undefined;
  return examine(catalogue, (db) => {
    const tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name = ?";
    if (db.query(tables).get(storeState.name) === null) return undefined;
    const value = `SELECT value FROM ${storeState.name} WHERE name = ?`;
    return db.query<{ value: string }, [string]>(value).get(movedMark)?.value;
  });
}
