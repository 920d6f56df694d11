/**
 * Writes the migration that brings each database to the tables in src/storage/schema.*.ts: `bun run
 * db:generate NAME`. drizzle-kit compares; this adds what it cannot say of SQLite's tables, and
 * formats what it wrote.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const databases = {
  catalogue: "drizzle/sqlite/catalogue",
  limits: "drizzle/sqlite/limits",
  postgres: "drizzle/postgres",
} as const;

/** Tables whose rows SQLite keeps in the order of a key that is no number. */
const clustered = new Set(["idempotency_keys", "pet_events", "rate_windows", "usage_days"]);

/** SQLite's tables are strict; those with a key that is no number are in its order. */
function strict(sql: string): string {
  return sql.replace(/(CREATE TABLE `(\w+)` \([^]*?\n\));/g, (_, table: string, name: string) =>
    clustered.has(name) ? `${table} STRICT, WITHOUT ROWID;` : `${table} STRICT;`,
  );
}

function run(command: readonly string[], env: Readonly<Record<string, string>> = {}): void {
  const options = { cwd: process.cwd(), env: { ...process.env, ...env }, stdin: "ignore" } as const;
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], options);
  process.stdout.write(stdout.toString() + stderr.toString());
  if (exitCode !== 0) throw new Error(`${command.join(" ")} ended with ${exitCode}`);
}

/** The migrations that a database has. */
function tagsIn(folder: string): string[] {
  const journal = readFileSync(join(folder, "meta/_journal.json"), "utf8");
  return (JSON.parse(journal) as { entries: { tag: string }[] }).entries.map(({ tag }) => tag);
}

function generate(name: string): void {
  for (const [schema, folder] of Object.entries(databases)) {
    const before = new Set(tagsIn(folder));
    run(["drizzle-kit", "generate", "--name", name], { DRIZZLE_SCHEMA: schema });
    const added = tagsIn(folder).filter((tag) => !before.has(tag));
    if (added.length === 0) continue;
    for (const tag of schema === "postgres" ? [] : added) {
      const file = join(folder, `${tag}.sql`);
      writeFileSync(file, strict(readFileSync(file, "utf8")));
    }
    run([process.execPath, "fmt", "--no-script", folder]);
  }
}

if (import.meta.main) {
  const [name, ...more] = process.argv.slice(2);
  if (name === undefined || more.length > 0 || !/^[a-z][a-z0-9_]*$/.test(name)) {
    process.stderr.write(
      "Error: give the migration a name, such as: bun run db:generate pets_born_at\n",
    );
    process.exit(2);
  }
  generate(name);
}
