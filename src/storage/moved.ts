/** The mark that a store carries once everything in it was moved elsewhere. */
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
