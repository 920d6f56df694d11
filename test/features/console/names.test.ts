/** The index of names: finds what a plain search would, and follows the store. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { AnimalService } from "../../../src/features/animals/animals.ts";
import { NameBook } from "../../../src/features/console/animals/name-book.ts";
import { NameIndex } from "../../../src/features/console/animals/name-index.ts";
import { fold } from "../../../src/domain/names.ts";
import type { Store } from "../../../src/storage/contract.ts";
import { run, sql } from "../../../src/storage/statement.ts";
import { pets } from "../../../src/storage/tables.ts";
import { changes, petEvents } from "../../../src/features/animals/tables.ts";
import { openForEach, stores } from "../../helpers/stores.ts";

const many = 1_000_000;
const newestFirst = (ids: Iterable<bigint>) => [...ids].toSorted((a, b) => (a < b ? 1 : -1));

test("an index finds the same as a look at every name, whatever changed", () => {
  const name = fc.constantFrom("rex", "rexa", "luna", "", "a", "a rex", "unar");
  const appended = fc.record({ append: fc.array(name, { maxLength: 6_000, size: "max" }) });
  const change = fc.tuple(fc.nat(9_000), fc.option(name, { nil: undefined }));
  const changed = fc.record({ change: fc.array(change, { maxLength: 40 }) });
  fc.assert(
    fc.property(fc.array(fc.oneof(appended, changed), { maxLength: 8 }), (steps) => {
      const index = new NameIndex();
      const model = new Map<bigint, string>();
      let last = 0n;
      for (const step of steps) {
        if ("append" in step) {
          const animals = step.append.map((name) => ({ id: (last += 1n), name }));
          index.append(animals);
          for (const { id, name: text } of animals) model.set(id, text);
        } else {
          const names = new Map(step.change.map(([at, text]) => [BigInt(at), text]));
          for (const id of names.keys()) if (id === 0n || id > last) names.delete(id);
          index.change(names);
          for (const [id, text] of names) {
            if (text === undefined) model.delete(id);
            else model.set(id, text);
          }
        }
      }
      for (const wanted of ["rex", "una", "ar", "zz"]) {
        const all = [...model].filter(([, text]) => text.includes(wanted)).map(([id]) => id);
        expect(index.find(wanted, many)).toEqual(newestFirst(all));
        if (all.length > 0) expect(index.find(wanted, all.length - 1)).toBeUndefined();
      }
    }),
    { numRuns: 25 },
  );
}, 120_000);

describe.each(stores)("the names in $name", (kind) => {
  let store: Store;
  let animals: AnimalService;
  let book: NameBook;
  let nowMs = Date.UTC(2026, 10, 22);

  openForEach(kind, (opened) => {
    store = opened;
    const clock = () => nowMs;
    animals = new AnimalService({ store, clock, actor: "ana" });
    book = new NameBook(store, clock);
  });

  const create = (name: string) => store.pets.create({ name, categoryId: 1n });
  const find = (text: string) => book.find(fold(text), many);

  test("are not known before they were read, and then follow every kind of change", async () => {
    const rex = await create("Rex");
    expect(await find("rex")).toBeUndefined();
    await book.prepare();
    expect(await find("rex")).toEqual([rex]);
    const zoe = await create("Zoë the rex");
    expect(await find("ZOE")).toEqual([zoe]);
    const { id: added } = await animals.add({
      name: "T-Rex",
      category: { text: "Dog", create: true },
    });
    expect(await find("rex")).toEqual([added, zoe, rex]);
    await animals.update([rex, added], { name: "Max" });
    expect(await find("rex")).toEqual([zoe]);
    expect(await find("max")).toEqual([added, rex]);
    await animals.undo();
    expect(await find("rex")).toEqual([added, zoe, rex]);
    await animals.remove([rex, zoe]);
    expect(await find("rex")).toEqual([added]);
    await animals.restore(rex);
    expect(await find("rex")).toEqual([added, rex]);
    expect(await find("max")).toEqual([]);
  });

  test("are found by the letters that people type for those of other languages", async () => {
    await book.prepare();
    const street = await create("Straße");
    const orsted = await create("Ørsted");
    expect(await find("strasse")).toEqual([street]);
    expect(await find("orsted")).toEqual([orsted]);
  });

  test("that are being read are waited for", async () => {
    const rex = await create("Rex");
    const reading = book.prepare();
    expect(await find("rex")).toEqual([rex]);
    await reading;
  });

  test("are all read again after more changes than are followed one by one", async () => {
    const rex = await create("Rex");
    await book.prepare();
    await store.transact(function* () {
      yield* run(sql`INSERT INTO ${changes} (at_ms, actor, action, summary)
        VALUES (${nowMs}, 'ana', 'update', '{}')`);
      yield* run(sql`INSERT INTO ${petEvents} (pet_id, change_id)
        WITH RECURSIVE numbers (number) AS (
          SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number <= 20000)
        SELECT number, (SELECT max(id) FROM ${changes}) FROM numbers`);
      yield* run(sql`UPDATE ${pets} SET name = 'Max'`);
    });
    expect(await find("max")).toEqual([rex]);
  });

  test("follow an import, which is one change that grows", async () => {
    const [first, second] = [await create("Rex"), await create("Rex")];
    // As an import does it: the change is there, and its events come in several transactions.
    const rename = (id: bigint, begins: boolean) =>
      store.transact(function* () {
        if (begins) {
          yield* run(sql`INSERT INTO ${changes} (at_ms, actor, action, summary)
            VALUES (${nowMs}, 'ana', 'import', '{}')`);
        }
        yield* run(sql`INSERT INTO ${petEvents} (pet_id, change_id)
          SELECT CAST(${id} AS bigint), max(id) FROM ${changes} WHERE action = 'import'`);
        yield* run(sql`UPDATE ${pets} SET name = 'Max' WHERE id = ${id}`);
      });
    await book.prepare();
    await rename(first, true);
    expect(await find("max")).toEqual([first]);
    await animals.update([second], { status: "sold" });
    await rename(second, false);
    expect(await find("max")).toEqual([second, first]);
  });

  test("are read anew after a day", async () => {
    await create("Rex");
    await book.prepare();
    // Something that no event tells of, such as a restored database.
    await store.transact(function* () {
      yield* run(sql`UPDATE ${pets} SET name = 'Max'`);
    });
    expect(await find("max")).toEqual([]);
    await book.prepare();
    expect(await find("max")).toEqual([]);
    nowMs += 25 * 3_600_000;
    await book.prepare();
    expect(await find("max")).toHaveLength(1);
  });
});
