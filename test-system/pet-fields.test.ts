/**
 * No field of an animal is lost anywhere. The fields are read from the document that the service
 * serves, each gets a value, and the animal goes through the interface, both stores, import,
 * export, copy and the command line. A field that one of these places forgets fails here by its
 * name.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { getTableColumns } from "drizzle-orm";
import { sqliteTables } from "../src/storage/schema.sqlite.ts";
import { command } from "../test/helpers/command.ts";
import { makeKey, roomy, serve, temporaryFolder } from "../test/helpers/binary.ts";
import { hookTimeoutMs, testDatabase, type TestDatabase } from "../test/helpers/postgres.ts";

/** Columns of an animal that no caller sets or sees. */
const ownColumns = ["id", "source", "externalId", "createdAtMs", "createdBy", "createdIn"];
const formats = ["json", "ndjson", "csv"] as const;

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
}
type Animal = Readonly<Record<string, string | number>>;

let database: TestDatabase;
const folder = temporaryFolder();
beforeAll(async () => void (database = await testDatabase()), hookTimeoutMs);
afterAll(async () => {
  folder[Symbol.dispose]();
  await database[Symbol.asyncDispose]();
}, hookTimeoutMs);

async function ran(...args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await command(args);
  expect([args, exitCode, stderr]).toEqual([args, 0, exitCode === 0 ? stderr : ""]);
  return stdout;
}

/** An animal with every field of a NewPet, as the document of the service at `origin` has them. */
async function fullAnimal(origin: string): Promise<Animal> {
  const document = (await (await fetch(`${origin}/docs/json`)).json()) as {
    components: { schemas: Record<string, { properties: Record<string, Schema> } & Schema> };
  };
  const { schemas } = document.components;
  const fields = Object.entries(schemas["NewPet"]?.properties ?? {});
  const values = fields.map(([name, { $ref, ...own }], at) => {
    const { enum: values, type } = schemas[$ref?.split("/").at(-1) ?? ""] ?? own;
    return [name, values?.at(-1) ?? (type === "integer" ? 40 + at : `a ${name}`)] as const;
  });
  return Object.fromEntries(values);
}

/**
 * Adds the animal through the interface, and reads it in every way that the interface and the
 * command line have.
 */
async function throughInterface(place: readonly string[], key: string): Promise<Animal> {
  const [flag = "", at = ""] = place;
  await using server = await serve(undefined, [flag, at]);
  const animal = await fullAnimal(server.origin);
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const asked = async (path: string, body?: string) => {
    const init = body === undefined ? { headers } : { headers, method: "POST", body };
    return (await fetch(`${server.origin}/v1/pets${path}`, init)).json();
  };
  const stored = (await asked("", JSON.stringify(animal))) as Animal;
  expect(stored).toEqual({ ...animal, id: expect.any(Number) });
  expect(await asked(`/${stored["id"]}`)).toEqual(stored);
  expect(await asked(`?after=${Number(stored["id"]) - 1}`)).toEqual([stored]);
  // From the store itself, once more: what was created may still have been in memory.
  await server.stop();
  return stored;
}

async function listed(place: readonly string[]): Promise<Animal[]> {
  return JSON.parse(await ran("pets", "list", "--json", ...place)) as Animal[];
}

test("every field is kept by both stores, moved between them, exported, imported and shown", async () => {
  const here = ["--data", folder.path];
  const { key } = await makeKey(folder.path, ...roomy);
  const first = await throughInterface(here, key);
  expect(Object.keys(first).toSorted()).toEqual(
    Object.keys(getTableColumns(sqliteTables.pets))
      .filter((column) => column === "id" || !ownColumns.includes(column))
      .toSorted(),
  );
  expect(await listed(here)).toEqual([first]);

  // What was copied says so from then on, and serves nobody.
  const moved = join(folder.path, "moved");
  for (const file of ["rehome.db", "limits.db"]) {
    cpSync(join(folder.path, file), join(moved, file));
  }
  chmodSync(moved, 0o700);
  await ran("store", "copy", "--from", moved, "--to", database.url);
  const there = ["--store", database.url];
  expect(await listed(there)).toEqual([first]);
  const second = await throughInterface(there, key);
  const both = [first, second];
  expect(await listed(there)).toEqual(both);

  for (const place of [here, there]) {
    const kept = place === here ? [first] : both;
    for (const format of formats) {
      using other = temporaryFolder();
      const file = join(other.path, `animals.${format}`);
      writeFileSync(file, await ran("pets", "export", "--format", format, ...place));
      const into = ["--data", join(other.path, "data")];
      await ran("pets", "import", file, "--new-ids", ...into);
      expect([format, await listed(into)]).toEqual([format, kept]);
    }
  }
}, 600_000);

test("a second import notices a change of each field", async () => {
  const [first = {}] = await listed(["--data", folder.path]);
  const place = ["--data", join(folder.path, "second")];
  const imported = async (animal: Animal) => {
    const file = join(folder.path, "own.json");
    writeFileSync(file, JSON.stringify([animal]));
    await ran("pets", "import", file, "--new-ids", ...place);
    return listed(place);
  };
  const known = { ...first, externalId: "rehome:7" };
  const [taken = {}] = await imported(known);
  expect(taken).toEqual({ ...first, id: expect.any(Number) });
  for (const [name, value] of Object.entries(first).filter(([each]) => each !== "id")) {
    const text = name === "status" ? "available" : `${value}, changed`;
    const other = typeof value === "number" ? value + 1000 : text;
    expect(await imported({ ...known, [name]: other })).toEqual([{ ...taken, [name]: other }]);
    await imported(known);
  }
}, 600_000);

test("the command line sets and shows every field", async () => {
  const here = ["--data", folder.path];
  const [{ id, ...animal } = {}] = await listed(here);
  const flags = Object.entries(animal).flatMap(([name, value]) => [
    `--${name.replace(/Id$/, "").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    String(value),
  ]);
  const added = JSON.parse(await ran("pets", "add", ...flags, "--json", ...here)) as Animal;
  expect(added).toEqual({ ...animal, id: expect.any(Number) });
  const shown = await ran("pets", "show", String(id), ...here);
  const table = await ran("pets", "list", ...here);
  for (const [name, value] of Object.entries(animal)) {
    expect({ name, text: shown }).toEqual({ name, text: expect.stringContaining(String(value)) });
    expect({ name, text: table }).toEqual({ name, text: expect.stringContaining(String(value)) });
  }
}, 600_000);
