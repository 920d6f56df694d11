/**
 * No field of an animal is lost anywhere. The fields are read from the document that the service
 * serves, each gets a value, and the animal goes through the interface, the store, export, import
 * and the command line. A field that one of these places forgets fails here by its name.
 */
import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { getTableColumns } from "drizzle-orm";
import { sqliteTables } from "../src/storage/schema.sqlite.ts";
import { command } from "../test/helpers/command.ts";
import { makeKey, roomy, serve, temporaryFolder } from "../test/helpers/binary.ts";

/** Columns of an animal that no caller sets or sees. */
const ownColumns = ["id", "source", "externalId", "createdAtMs", "createdBy", "createdIn"];

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
}
type Animal = Readonly<Record<string, string | number>>;

const folder = temporaryFolder();
const here = ["--data", folder.path];
afterAll(() => folder[Symbol.dispose]());

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

const listed = async (place: readonly string[]) =>
  JSON.parse(await ran("pets", "list", "--json", ...place)) as Animal[];

/** Imports into a place of its own, without ids, and returns what is there. */
async function imported(name: string, format: string, text: string): Promise<Animal[]> {
  const place = ["--data", join(folder.path, name)];
  const file = join(folder.path, `${name}.${format}`);
  writeFileSync(file, text.replace(/"id":\d+,/, "").replace(/^\d+,/m, ","));
  await ran("pets", "import", file, ...place);
  return listed(place);
}

let animal: Animal = {};

test("every field is created, read, kept, exported and imported", async () => {
  const { key } = await makeKey(folder.path, ...roomy);
  await using server = await serve(folder.path);
  const full = await fullAnimal(server.origin);
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const asked = async (path: string, init = {}) =>
    (await fetch(`${server.origin}/v1/pets${path}`, { headers, ...init })).json();
  animal = (await asked("", { method: "POST", body: JSON.stringify(full) })) as Animal;
  expect(animal).toEqual({ ...full, id: expect.any(Number) });
  const columns = Object.keys(getTableColumns(sqliteTables.pets));
  expect(Object.keys(animal).toSorted()).toEqual(
    columns.filter((each) => each === "id" || !ownColumns.includes(each)).toSorted(),
  );
  expect(await asked(`/${animal["id"]}`)).toEqual(animal);
  expect(await asked("")).toEqual([animal]);
  await server.stop();
  expect(await listed(here)).toEqual([animal]);
  for (const format of ["json", "ndjson", "csv"]) {
    const text = await ran("pets", "export", "--format", format, ...here);
    expect([format, await imported(format, format, text)]).toEqual([format, [animal]]);
  }
});

test("a second import notices a change of each field", async () => {
  const known = { ...animal, externalId: "rehome:7" };
  const again = (each: Animal) => imported("second", "json", JSON.stringify([each]));
  expect(await again(known)).toEqual([animal]);
  for (const [name, value] of Object.entries(animal).filter(([each]) => each !== "id")) {
    const text = name === "status" ? "available" : `${value}, changed`;
    const other = typeof value === "number" ? value + 1000 : text;
    expect(await again({ ...known, [name]: other })).toEqual([{ ...animal, [name]: other }]);
    await again(known);
  }
});

test("the command line sets and shows every field", async () => {
  const { id, ...fields } = animal;
  const flags = Object.entries(fields).flatMap(([name, value]) => [
    `--${name.replace(/Id$/, "").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    String(value),
  ]);
  const added = JSON.parse(await ran("pets", "add", ...flags, "--json", ...here)) as Animal;
  expect(added).toEqual({ ...fields, id: expect.any(Number) });
  const shown = await ran("pets", "show", String(id), ...here);
  const table = await ran("pets", "list", ...here);
  for (const [name, value] of Object.entries(fields)) {
    expect([name, shown]).toEqual([name, expect.stringContaining(String(value))]);
    expect([name, table]).toEqual([name, expect.stringContaining(String(value))]);
  }
});
