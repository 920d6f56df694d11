/**
 * Writes the migration that brings each database to the tables in src/storage/schema.ts: `bun run
 * db:generate NAME`. drizzle-kit compares; this adds what it cannot say of SQLite's tables.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { misused } from "./arguments.ts";
import { folders } from "./migrations.ts";

/** Tables whose rows SQLite keeps in the order of a key that is no number. */
const clustered = new Set([
  "category_words",
  "idempotency_keys",
  "list_entries",
  "pet_events",
  "rate_windows",
  "usage_days",
]);

/** SQLite's tables are strict; those with a key that is no number are in its order. */
function strict(sql: string): string {
  return sql.replace(/(CREATE TABLE `(\w+)` \([^]*?\n\));/g, (_, table: string, name: string) =>
    clustered.has(name) ? `${table} STRICT, WITHOUT ROWID;` : `${table} STRICT;`,
  );
}

function run(command: readonly string[], env: Readonly<Record<string, string>> = {}): void {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, ...command], {
    env: { ...process.env, ...env },
    stdin: "ignore",
  });
  process.stdout.write(stdout.toString() + stderr.toString());
  if (exitCode !== 0) throw new Error(`${command.join(" ")} ended with ${exitCode}`);
}

const [name, ...more] = process.argv.slice(2);
if (name === undefined || more.length > 0 || !/^[a-z][a-z0-9_]*$/.test(name)) {
  misused("give the migration a name, such as: bun run db:generate pets_born_at");
}
for (const [schema, folder] of Object.entries(folders)) {
  const files = () => [...new Bun.Glob(`${folder}/*.sql`).scanSync()];
  const before = new Set(files());
  run(["--bun", "drizzle-kit", "generate", "--name", name], { DRIZZLE_SCHEMA: schema });
  const added = files().filter((file) => !before.has(file));
  if (added.length === 0) continue;
  for (const file of schema === "postgres" ? [] : added) {
    writeFileSync(file, strict(readFileSync(file, "utf8")));
  }
  run(["fmt", "--no-script", folder]);
}
