/**
 * Random histories of several processes on one folder: what each of them answers from its memory is
 * what a store without one has.
 */
import { expect, test } from "bun:test";
import * as fc from "fast-check";
import type { PageQuery } from "../../src/domain/page.ts";
import { petJson, petsJson, petStatuses, type PetStatus } from "../../src/domain/pet.ts";
import { ResponseCache } from "../../src/http/response-cache.ts";
import { animalsOf } from "../features/animals/animals-of.ts";
import { TestClock } from "../helpers/app.ts";
import { importText } from "../helpers/import-text.ts";
import { SharedFolder, type Stack } from "../helpers/stack.ts";
import { changesNoticed, isOnPostgres } from "../helpers/store-under-test.ts";

const status = fc.constantFrom<PetStatus | undefined>(...petStatuses, undefined);
const process = fc.integer({ min: 0, max: 2 });
/** Taken modulo the number of animals that there are. */
const at = fc.nat({ max: 1_000 });
const kinds = ["update", "remove", "remove last", "restore", "undo", "import", "rename"] as const;
const action = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom("create", "create once", "create twice"),
      process,
      at,
      status,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom(...kinds), process, at, status }) },
) as fc.Arbitrary<Action>;

interface Action {
  readonly kind: (typeof kinds)[number] | "create" | "create once" | "create twice";
  readonly process: number;
  readonly at: number;
  readonly status: PetStatus | undefined;
}

/** What is asked again and again: pages of every kind, at the beginning, within and at the end. */
const queries: readonly PageQuery[] = [1, 3, 100].flatMap((limit) =>
  [undefined, "sold" as const].flatMap((of) =>
    [undefined, 0n, 2n, 5n, 9n].map((after) => ({ limit, status: of, after })),
  ),
);

/** Some pages fit in, some do not, and it is full again and again. */
const bounds = { entries: 3, bytes: 200 };

class Driver {
  readonly answers: readonly ResponseCache[];
  #named = 0;

  constructor(readonly stacks: readonly Stack[]) {
    this.answers = stacks.map(({ services }) => new ResponseCache(services, bounds));
  }

  async run(step: Action): Promise<void> {
    await this.#act(step);
    // Who did it sees it at once, and the others when they have noticed.
    await this.#compare(step.process);
    await this.#compareAll();
  }

  async #compareAll(): Promise<void> {
    await changesNoticed();
    for (const number of this.answers.keys()) await this.#compare(number);
  }

  async #act({ kind, process: number, at: position, status: given }: Action): Promise<void> {
    const { store } = this.stacks[number] as Stack;
    const animals = animalsOf(store);
    const pet = { name: `animal ${(this.#named += 1)}`, categoryId: 1n, status: given };
    const there = await store.pets.page({ limit: 1_000 });
    const id = there[position % Math.max(1, there.length)]?.id ?? 0n;
    const last = there.at(-1)?.id ?? 0n;
    switch (kind) {
      case "create":
        return void (await Promise.all([store.pets.create(pet), store.pets.create(pet)]));
      case "create once":
      case "create twice": {
        const value = kind === "create once" ? pet.name : "the same";
        const more = { keyId: "key", value, bodyHash: new Uint8Array(32), nowMs: 0 };
        return void (await store.pets.createOnce({ pet, ...more }));
      }
      case "update":
        return this.#tried(() => animals.update([id], { status: given ?? null }));
      case "rename":
        return this.#tried(() => animals.update([id], { name: pet.name }));
      case "remove":
        return this.#tried(() => animals.remove([id]));
      case "remove last":
        return this.#tried(() => animals.remove([last]));
      case "restore":
        return this.#tried(() => animals.restore(BigInt(1 + (position % 12))));
      case "undo":
        return this.#tried(() => animals.undo());
      case "import":
        return this.#import(store, pet.name);
    }
  }

  /** Some of what is tried cannot be: an animal that is not there cannot be changed. */
  async #tried(work: () => Promise<unknown>): Promise<void> {
    await work().catch(() => undefined);
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
    const answers = this.answers[number] as ResponseCache;
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
