import { expect, test } from "bun:test";
import { cpSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../test/helpers/binary.ts";

const root = join(import.meta.dir, "../..");

/** The files below drizzle/ with what is in them. */
const migrations = (folder: string) =>
  Object.fromEntries(
    [...new Bun.Glob("drizzle/**/*").scanSync(folder)]
      .toSorted()
      .map((file) => [file, readFileSync(join(folder, file), "utf8")]),
  );

test("every schema has all of its migrations", () => {
  using folder = temporaryFolder();
  for (const name of ["drizzle", "drizzle.config.ts", "package.json", "src"]) {
    cpSync(join(root, name), join(folder.path, name), { recursive: true });
  }
  for (const name of ["node_modules", "scripts"]) {
    symlinkSync(join(root, name), join(folder.path, name));
  }
  const { exitCode, stdout, stderr } = Bun.spawnSync(
    [process.execPath, "run", "db:generate", "nothing"],
    {
      cwd: folder.path,
      stdin: "ignore",
    },
  );
  const said = `${stdout.toString()}${stderr.toString()}`;
  expect(exitCode, said).toBe(0);
  const before = migrations(root);
  const databases = Object.keys(before).filter((file) => file.endsWith("/_journal.json"));
  // A database that is left out would have nothing new either.
  expect(said.match(/No schema changes/g)).toHaveLength(databases.length);
  expect(migrations(folder.path)).toEqual(before);
});
