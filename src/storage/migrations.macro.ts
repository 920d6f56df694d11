/**
 * Reads a migrations folder at build time, so that the executable contains them. Runs as a Bun
 * macro, whose result is inlined.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface Migration {
  readonly tag: string;
  /** SHA-256 of the SQL, so that an edited migration is noticed. */
  readonly hash: string;
  readonly sql: string;
}

/** The migrations of drizzle-kit's journal in `drizzle/` and `folder`, in its order. */
export function readMigrations(folder: string): Migration[] {
  const root = join(import.meta.dir, "../../drizzle", folder);
  const journal = JSON.parse(readFileSync(join(root, "meta/_journal.json"), "utf8")) as {
    entries: { tag: string }[];
  };
  return journal.entries.map(({ tag }) => {
    const sql = readFileSync(join(root, `${tag}.sql`), "utf8");
    return { tag, hash: createHash("sha256").update(sql).digest("hex"), sql };
  });
}
