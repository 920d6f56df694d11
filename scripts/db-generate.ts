/**
 * Writes the migration that brings each database to the tables in src/storage/schema.ts: `bun run
 * db:generate NAME`. drizzle-kit compares; this adds what it cannot say of SQLite's tables, and
 * formats what it wrote.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const databases = {
  catalogue: "drizzle/sqlite/catalogue",
  limits: "drizzle/sqlite/limits",
  postgres: "drizzle/postgres",
} as const;

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

/** Writes the module that embeds the migrations of some databases, by their names in it. */
function writeModule(file: string, exported: (names: string) => string, names: readonly string[]) {
  const root = "../".repeat(file.split("/").length - 1);
  const all = names.flatMap((name) =>
    tagsIn(databases[name as keyof typeof databases]).map((tag) => ({ name, tag })),
  );
  const imported = ({ name, tag }: { name: string; tag: string }) => `${name}${tag.slice(0, 4)}`;
  const imports = all.map(
    (each) =>
      `import ${imported(each)} from "${root}${databases[each.name as keyof typeof databases]}/${each.tag}.sql" with { type: "text" };`,
  );
  const listOf = (name: string) => {
    const own = all.filter((each) => each.name === name);
    return `[${own.map((each) => `migration("${each.tag}", ${imported(each)})`).join(", ")}]`;
  };
  writeFileSync(
    file,
    `/** The migrations in their order. \`bun run db:generate\` writes this file. */
${imports.join("\n")}
import { migration } from "${relative(dirname(file), "src/storage/migration-history.ts")}";

${exported(names.map((name) => (names.length > 1 ? `${name}: ${listOf(name)}` : listOf(name))).join(", "))}
`,
  );
  run([process.execPath, "fmt", "--no-script", file]);
}

/** Embeds what there is now. */
export function embed(): void {
  writeModule(
    "src/storage/sqlite/migrations.ts",
    (lists) => `export const migrationsOf = { ${lists} };`,
    ["catalogue", "limits"],
  );
  writeModule(
    "src/features/postgres/migrations.ts",
    (list) => `export const postgresMigrations = ${list};`,
    ["postgres"],
  );
}

function generate(name: string): void {
  for (const [schema, folder] of Object.entries(databases)) {
    const before = new Set(tagsIn(folder));
    run([process.execPath, "--bun", "drizzle-kit", "generate", "--name", name], {
      DRIZZLE_SCHEMA: schema,
    });
    const added = tagsIn(folder).filter((tag) => !before.has(tag));
    if (added.length === 0) continue;
    for (const tag of schema === "postgres" ? [] : added) {
      const file = join(folder, `${tag}.sql`);
      writeFileSync(file, strict(readFileSync(file, "utf8")));
    }
    run([process.execPath, "fmt", "--no-script", folder]);
  }
  embed();
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
