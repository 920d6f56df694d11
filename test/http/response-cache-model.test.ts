/**
 * Random histories of several processes on one folder: what each of them answers from its memory is
 * what a store without one has. Rendered answers are kept while they are right, and bounded.
 */
import { expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  type PageQuery,
  petJson,
  petsJson,
  petStatuses,
  type PetStatus,
} from "../../src/domain/pet.ts";
import { type CacheBounds, ResponseCache } from "../../src/http/response-cache.ts";
import type { Services } from "../../src/service/services.ts";
import { animalsOf } from "../features/animals/animals-of.ts";
import { TestClock } from "../helpers/app.ts";
import { importText } from "../helpers/import-text.ts";
import { SharedFolder, Stack } from "../helpers/stack.ts";
import { changesNoticed, isOnPostgres } from "../helpers/store-under-test.ts";

/** A cache of answers, how often it read the store, and what its reads wait for. */
function cacheOn({ services }: Stack, bounds?: CacheBounds) {
  const { pets, store } = services;
  const reads = { count: 0, held: undefined as Promise<void> | undefined };
  const read = async <T>(found: Promise<T>) => {
    reads.count += 1;
    const result = await found;
    await reads.held;
    return result;
  };
  const noted = Object.assign(Object.create(pets) as Services["pets"], {
    page: (query: PageQuery) => read(pets.page(query)),
    byId: (id: bigint) => read(pets.byId(id)),
  });
  return { answers: new ResponseCache({ pets: noted, store }, bounds), reads };
}

interface Action {
  readonly kind: (typeof kinds)[number];
  readonly process: number;
  /** Taken modulo the number of animals that there are. */
  readonly at: number;
  readonly status: PetStatus | undefined;
  /** Whether every answer is asked for before the change, and read after it. */
  readonly isHeld: boolean;
}

const creates = ["create", "create once", "create twice"] as const;
const changes = ["update", "rename", "remove", "remove last", "restore", "undo", "import"] as const;
const kinds = [...creates, ...changes];
const action: fc.Arbitrary<Action> = fc.record({
  kind: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...creates) },
    { weight: 2, arbitrary: fc.constantFrom(...changes) },
  ),
  process: fc.nat(2),
  at: fc.nat(1_000),
  status: fc.constantFrom<PetStatus | undefined>(...petStatuses, undefined),
  isHeld: fc.boolean(),
});

/** What is asked again and again: pages of every kind, at the beginning, within and at the end. */
const queries: readonly PageQuery[] = [1, 3, 100].flatMap((limit) =>
  [undefined, "sold" as const].flatMap((of) =>
    [undefined, 0n, 2n, 5n, 9n].map((after) => ({ limit, status: of, after })),
  ),
);

/** Of each process: all pages fit in, or some do not and it is full again and again. */
const bounds = [undefined, { entries: 3, bytes: 200 }, undefined];

class Driver {
  readonly #caches;
  #named = 0;

  constructor(readonly stacks: readonly Stack[]) {
    this.#caches = stacks.map((stack, at) => cacheOn(stack, bounds[at]));
  }

  async run(step: Action): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const early = step.isHeld ? this.#caches.map((each) => this.#beginToRead(each, promise)) : [];
    await this.#act(step);
    // Who did it sees it at once, and the others when they have noticed.
    if (!step.isHeld) await this.#compare(step.process);
    await changesNoticed();
    for (const { answers } of this.#caches) void answers.page(queries[step.at % queries.length]!);
    resolve();
    await Promise.all(early.flat());
    for (const each of this.#caches) each.reads.held = undefined;
    for (const number of this.#caches.keys()) await this.#compare(number);
  }

  /** Who asks for the same at the same time has the same. */
  #beginToRead({ answers, reads }: ReturnType<typeof cacheOn>, held: Promise<void>) {
    reads.held = held;
    return queries.map((query) => {
      const one = answers.page(query);
      expect(answers.page(query)).toBe(one);
      return Promise.resolve(one);
    });
  }

  async #act({ kind, process, at, status }: Action): Promise<void> {
    const { store } = this.stacks[process] as Stack;
    const pet = { name: `animal ${(this.#named += 1)}`, categoryId: 1n, status };
    const there = await store.pets.page({ limit: 1_000 });
    const id = there[at % Math.max(1, there.length)]?.id ?? 0n;
    const animals = animalsOf(store);
    const once = { pet, keyId: "key", bodyHash: new Uint8Array(32), nowMs: 0 };
    const acts: Record<Action["kind"], () => Promise<unknown>> = {
      create: () => Promise.all([store.pets.create(pet), store.pets.create(pet)]),
      "create once": () => store.pets.createOnce({ ...once, value: pet.name }),
      "create twice": () => store.pets.createOnce({ ...once, value: "the same" }),
      update: () => animals.update([id], { status: status ?? null }),
      rename: () => animals.update([id], { name: pet.name }),
      remove: () => animals.remove([id]),
      "remove last": () => animals.remove([there.at(-1)?.id ?? 0n]),
      restore: () => animals.restore(BigInt(1 + (at % 12))),
      undo: () => animals.undo(),
      import: () => this.#import(store, pet.name),
    };
    // Some of what is tried cannot be: an animal that is not there cannot be changed.
    await acts[kind]().catch(() => undefined);
  }

  /** New and known animals, with a change of another process behind them. */
  async #import(store: Stack["store"], name: string): Promise<void> {
    const ids = [1, 2, 3, 4, 5].map((each) => each * (1 + (this.#named % 2)));
    const rows = [...ids, ""].map((id) => `${name} ${id},Dog,available,${id}`);
    const text = `name,category,status,externalId\n${rows.join("\n")}\n`;
    await importText(store.db, text, { given: { source: "s" } });
  }

  async #compare(number: number): Promise<void> {
    const { store } = this.stacks[number] as Stack;
    const { answers } = this.#caches[number]!;
    for (const query of queries) {
      const answer = await answers.page(query);
      const stored = await store.pets.page({ ...query, limit: query.limit + 1 });
      const shown = stored.slice(0, query.limit);
      expect(await answer.body.text()).toBe(petsJson(shown));
      expect(answer.next === null).toBe(stored.length <= query.limit);
    }
    for (const id of [1n, 4n]) {
      const [answer, pet] = [await answers.pet(id), await store.pets.byId(id)];
      expect(await answer?.body.text()).toBe(pet && petJson(pet));
    }
  }
}

test("no history of creates, changes and imports by three processes is answered from before it", async () => {
  const property = async (actions: readonly Action[]) => {
    await using folder = new SharedFolder(new TestClock());
    const servers = [await folder.stack({ serving: true }), await folder.stack({ serving: true })];
    const driver = new Driver([...servers, await folder.stack()]);
    for (const step of actions) await driver.run(step);
  };
  await fc.assert(fc.asyncProperty(fc.array(action, { minLength: 20, maxLength: 40 }), property), {
    numRuns: Number(Bun.env["MODEL_RUNS"] ?? (isOnPostgres ? 2 : 8)),
    // To find a shorter history would take minutes.
    endOnFailure: true,
  });
}, 180_000);

test("an answer stays when an animal is added behind it, and goes when one changes", async () => {
  const stack = await Stack.open(new TestClock(), { serving: true });
  const { answers, reads } = cacheOn(stack);
  const { pets } = stack.services;
  const create = (name: string) => pets.create({ name, categoryId: 1n });
  for (const name of ["Rex", "Mia", "Tom"]) await create(name);
  const readsAfter = async (change?: Promise<unknown>) => {
    await change;
    await changesNoticed();
    reads.count = 0;
    for (let i = 0; i < 2; i += 1) {
      await answers.page({ limit: 2 });
      await answers.page({ limit: 9 });
      await answers.pet(1n);
    }
    return reads.count;
  };
  expect([await readsAfter(), await readsAfter()]).toEqual([3, 0]);
  // What no page follows: the last page, and the animal.
  expect(await readsAfter(create("Ada"))).toBe(2);
  const once = { keyId: "key", value: "a value", bodyHash: new Uint8Array(32), nowMs: 0 };
  const pet = { name: "Kim", categoryId: 1n };
  expect(await readsAfter(pets.createOnce({ ...once, pet }))).toBe(2);
  const animals = animalsOf(stack.store);
  expect(await readsAfter(animals.update([3n], { status: "sold" }))).toBe(3);
  expect(await readsAfter(animals.remove([4n, 5n]))).toBe(3);
  expect(await readsAfter(create("Leo"))).toBe(2);
});

test.each([
  { entries: 2, bytes: 1_000 },
  { entries: 100, bytes: 80 },
])("answers above %j are let go, and there is room again", async (given) => {
  const stack = await Stack.open(new TestClock(), { serving: true });
  const { answers, reads } = cacheOn(stack, given);
  // Of 35 bytes as JSON, and one larger than all that there is room for.
  for (const name of ["Rex", "Mia", "Tom", "x".repeat(1_000)]) {
    await stack.services.pets.create({ name, categoryId: 1n });
  }
  await changesNoticed();
  const readsOf = async (...ids: readonly bigint[]) => {
    reads.count = 0;
    for (const id of ids) await answers.pet(id);
    return reads.count;
  };
  expect(await readsOf(1n, 2n, 1n, 2n)).toBe(2);
  expect(await readsOf(3n, 3n)).toBe(1);
  expect(await readsOf(1n, 3n)).toBe(1);
  expect(await readsOf(4n, 4n)).toBe(2);
});
