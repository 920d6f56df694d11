/** The migrations of a database in their order, which a build puts into the program. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { migration, type Migration } from "../src/storage/migration-history.ts";

/** Where the migrations of each database are. */
export const folders = {
  catalogue: "drizzle/sqlite/catalogue",
  limits: "drizzle/sqlite/limits",
  postgres: "drizzle/postgres",
} as const;

export function migrationsIn(database: keyof typeof folders): Migration[] {
  const read = (name: string) =>
    readFileSync(join(import.meta.dir, "..", folders[database], name), "utf8");
  const { entries } = JSON.parse(read("meta/_journal.json")) as { entries: { tag: string }[] };
  return entries.map(({ tag }) => migration(tag, read(`${tag}.sql`)));
}
