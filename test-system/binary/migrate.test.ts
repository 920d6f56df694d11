/**
 * The executable on a folder of version 1.0.0: see test/storage/upgrade.test.ts for what is kept.
 */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { migrationsOf } from "../../src/storage/sqlite/files.ts";
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
});
