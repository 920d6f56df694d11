/** The engines: what runs a transaction's steps gives the same answers on both databases. */
import { describe, expect, test } from "bun:test";
import type { Store } from "../../src/storage/contract.ts";
import {
  count,
  given,
  int64,
  json as jsonColumn,
  nullable,
  table,
  text,
} from "../../src/storage/declare.ts";
import {
  columnsOf,
  createTemporary,
  forUpdate,
  inDialect,
  insert,
  joined,
  json,
  list,
  nextEpoch,
  raw,
  row,
  rows,
  run,
  sql,
  type Steps,
} from "../../src/storage/statement.ts";
import { keyEvents, pets, rateWindows, storeState } from "../../src/storage/tables.ts";
import { openForEach, stores } from "../helpers/stores.ts";

/** A table that the migrations make and only a feature uses. */
const categories = table({
  name: "categories",
  columns: { id: int64(), name: text(), nameKey: text() },
});

describe.each(stores)("$name", (kind) => {
  let store: Store;

  openForEach(kind, (opened) => {
    store = opened;
  });

  const add = (id: bigint, name: string) =>
    function* (): Steps<void> {
      yield* insert({
        into: categories,
        columns: ["id", "name", "nameKey"],
        rows: [[id, name, name.toLowerCase()]],
      });
    };
  const names = () =>
    store.read(() =>
      rows<{ id: bigint; name: string }>(sql`SELECT id, name FROM ${categories} ORDER BY id`),
    );

  test("a transaction reads, decides and writes; the rows are the same on both", async () => {
    await store.transact(add(7n, "Dog"));
    const result = await store.transact(function* () {
      const found = yield* row<{ id: bigint; name: string }>(
        sql`SELECT ${columnsOf(categories, ["id", "name"])} FROM ${categories}
          WHERE id IN ${list([1n, 7n])} ${forUpdate}`,
      );
      const changed = yield* run(
        sql`UPDATE ${categories} SET name = ${`${found?.name}s`} WHERE id = ${found?.id}`,
      );
      return { found, changed };
    });
    expect(result).toEqual({ found: { id: 7n, name: "Dog" }, changed: 1 });
    expect(await names()).toEqual([{ id: 7n, name: "Dogs" }]);
  });

  test("nothing is kept of a transaction that throws", async () => {
    const failed = (async () =>
      store.transact(function* () {
        yield* add(1n, "Dog")();
        throw new Error("on purpose");
      }))();
    expect(await failed.catch((error: Error) => error.message)).toBe("on purpose");
    expect(await names()).toEqual([]);
  });

  test("a key that is there already is left as it is where that is asked for, and fails otherwise", async () => {
    await store.transact(add(1n, "Dog"));
    const again = {
      into: categories,
      columns: ["id", "name", "nameKey"],
      rows: [[1n, "Cat", "cat"]],
    };
    await store.transact(() => insert({ ...again, ifAbsent: true }));
    expect(await names()).toEqual([{ id: 1n, name: "Dog" }]);
    const failed = (async () => store.transact(() => insert(again)))();
    expect(await failed.catch((error: Error) => error.message)).toContain("store cannot be used");
  });

  test("values of every kind go in and come out", async () => {
    const long = 2n ** 62n + 1n;
    const found = await store.read(() =>
      row<
        Record<string, unknown>
      >(sql`SELECT CAST(${long} AS bigint) AS big, CAST(${'a"b\n🐢'} AS text) AS text,
        CAST(${null} AS text) AS absent, 
        ${inDialect({ sqlite: "instr", postgres: "strpos" })}('abc', 'c') AS place`),
    );
    const asNumber: Record<string, unknown> = { ...found, place: Number(found?.["place"]) };
    expect(asNumber).toEqual({
      big: long,
      text: 'a"b\n🐢',
      absent: null,
      place: 3,
    });
    await store.transact(function* () {
      yield* run(
        sql`INSERT INTO ${storeState} (name, value) VALUES (${"a"}, CAST(${json({ big: long })} AS text))`,
      );
    });
    expect(await store.read(() => row(sql`SELECT value FROM ${storeState}`))).toEqual({
      value: `{"big":${long}}`,
    });
  });

  test("the epoch rises with a change of keys, and this process knows it at once", async () => {
    const before = store.versions().keys;
    const epoch = await store.transact(() => nextEpoch());
    expect(epoch).toBe(1);
    expect(store.versions().keys).toBe(before + 1);
  });

  test("counters are reached where they are", async () => {
    const rowsOf = () => rows(sql`SELECT CAST(count(*) AS bigint) AS n FROM ${rateWindows}`);
    expect(await store.read(rowsOf, { counters: true })).toEqual([{ n: 0n }]);
  });

  test("a session has tables of its own, which nobody else sees", async () => {
    const staged = table({
      name: "staged",
      temporary: true,
      key: ["seq"],
      columns: { seq: given(), name: text(), version: nullable(count()), detail: jsonColumn() },
    });
    const session = await store.session();
    await session.aside(function* () {
      yield* run(createTemporary(staged));
      const columns = ["name", "version", "detail"];
      const added = [
        ["Rex", 1, "{}"],
        ["Ada", null, "[1]"],
      ];
      yield* insert({ into: staged, columns, rows: added });
    });
    await session.transact(function* () {
      yield* run(
        sql`INSERT INTO ${pets} (name, category_id) SELECT name, ${5n} FROM ${staged} ORDER BY seq`,
      );
    });
    expect(
      await session.read(() => rows(sql`SELECT seq, version FROM staged ORDER BY seq`)),
    ).toEqual([
      { seq: 1n, version: 1n },
      { seq: 2n, version: null },
    ]);
    expect(session.dialect).toBe(kind.name);
    await session.close();
    expect((await store.pets.page({ limit: 9 })).map(({ name }) => name)).toEqual(["Rex", "Ada"]);
    const gone = (async () => store.read(() => rows(sql`SELECT * FROM staged`)))();
    expect(await gone.catch((error: Error) => error.message)).toContain("store cannot be used");
  });

  test("a name that somebody typed is a value and never SQL", async () => {
    await store.transact(add(1n, "'); DROP TABLE categories; --"));
    expect(await names()).toHaveLength(1);
    const where = joined([sql`id = ${1n}`, sql`name = ${"x"}`], " OR ");
    expect(
      await store.read(() => rows(sql`SELECT id FROM ${categories} WHERE ${where} ${raw("")}`)),
    ).toEqual([{ id: 1n }]);
    expect(await store.read(() => rows(sql`SELECT id FROM ${keyEvents}`))).toEqual([]);
  });
});
