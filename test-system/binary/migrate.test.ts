/**
 * The executable on a folder of version 1.0.0: see test/storage/upgrade.test.ts for what is kept.
 */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { migrationsOf } from "../../src/storage/sqlite/files.ts";
import { openDatabase } from "../../src/storage/sqlite/connection.ts";
import { migrate } from "../../src/storage/sqlite/migrate.ts";
import { serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";

const fixture = join(import.meta.dir, "../../test/fixtures/1.0.0");

const applied = (folder: string) => {
  using db = new Database(join(folder, "rehome.db"), { readonly: true });
  return db.query("SELECT tag FROM schema_migrations").all();
};

test("processes that migrate at once migrate a folder once, and no other command does", async () => {
  using folder = temporaryFolder();
  cpSync(fixture, folder.path, { recursive: true });
  const list = () => command(["pets", "list", "--data", folder.path, "--json"]);
  const refused = await list();
  expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
  expect(refused.stderr).toContain(
    "has an older schema than this program.\nTry: Restart the service",
  );
  expect(readdirSync(folder.path).some((file) => file.includes(".before-"))).toBe(false);

  const servers = await Promise.all([serve(folder.path), serve(folder.path)]);
  for (const server of servers) expect(await server.stop()).toBe(0);
  expect(JSON.parse((await list()).stdout)).toHaveLength(6);
  expect(applied(folder.path)).toHaveLength(migrationsOf.catalogue.length);
  expect(readdirSync(folder.path).some((file) => file.includes(".before-0001_"))).toBe(true);
}, 120_000);

/** Makes the catalogue that version 1.0.0 had after an import of so many dogs from Austin. */
function importedBefore(folder: string, animals: number): void {
  const file = join(folder, "rehome.db");
  using db = openDatabase(file, { synchronous: "normal" });
  migrate(db, file, migrationsOf.catalogue.slice(0, 1));
  db.run(`
    INSERT INTO pets (name, category_id, status, external_id)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${animals})
    SELECT 'animal ' || i, i % 7, 'available', 'austin:A' || i FROM n`);
}

test("what 1.0.0 imported is found again", async () => {
  using folder = temporaryFolder();
  importedBefore(folder.path, 2);
  const store = ["--data", folder.path];
  const stdin =
    "Animal ID,Name,DateTime,MonthYear,Outcome Type,Animal Type\nA1,animal 1,01/02/2026,m,,Dog\n";
  await (await serve(folder.path)).stop();
  await command(["categories", "add", "Dog", "--id", "1", ...store]);
  const taken = await command(["pets", "import", "-", ...store], { stdin });
  expect(taken.stdout).toContain("  0  added\n  0  updated\n  1  unchanged\n");
}, 120_000);
