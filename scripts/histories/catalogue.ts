/** The animals as one object: a list is one read of it, an import one write. */
import type { Answer, Asked, Command, NewPet, Order, Pet, Request } from "./history.ts";
import type { Model } from "./linearize.ts";

interface Animal extends Pet {
  /** Whose it is elsewhere, if an import added it. */
  readonly externalId?: string;
}

/** What happens to an animal: no `before` if it was not there, no `after` if it is gone then. */
interface Effect {
  readonly before?: Animal | undefined;
  readonly after?: Animal | undefined;
  /** What it was while it was removed, if it comes back with other fields. */
  readonly former?: Animal | undefined;
}
type Effects = ReadonlyMap<number, Effect>;

export interface Catalogue {
  /** In the order of their ids. */
  readonly pets: readonly Animal[];
  readonly removed: ReadonlyMap<number, Animal>;
  /** Creates with an Idempotency-Key, by their caller and its value. */
  readonly once: ReadonlyMap<string, Pet>;
  /** Changes of people that are in force, the newest last. */
  readonly changes: readonly { readonly command: Command; readonly effects: Effects }[];
  readonly lastId: number;
  readonly backups: ReadonlyMap<string, Catalogue>;
  /** Of animals and `once`: 64 bits keep different states apart. */
  readonly hash: bigint;
}

const nothing = { pets: [], removed: new Map(), once: new Map(), changes: [], backups: new Map() };
export const emptyCatalogue: Catalogue = { ...nothing, lastId: 0, hash: 0n };

export type CatalogueCall = Request | Command;

/** The name without the number of the import that gave it: of an animal all of them are equal. */
export const stemOf = (name: string) => name.replace(/ \(\d+\)$/, "");

export class CatalogueModel implements Model<Catalogue, CatalogueCall> {
  /** The ids, ascending, that responses show for a stem: not each create and import tells them. */
  readonly #idsOf: ReadonlyMap<string, readonly number[]>;

  constructor(idsOf: ReadonlyMap<string, readonly number[]>) {
    this.#idsOf = idsOf;
  }

  isRead(call: CatalogueCall): boolean {
    if (call.kind === "command") return call.exitCode !== undefined && call.exitCode !== 0;
    const { asked, answer } = call;
    return asked.do !== "create" || answer?.status === 400 || answer?.isReplay === true;
  }

  key({ hash, lastId, changes, backups }: Catalogue): string {
    const stack = changes.map(({ command }) => command.callMs);
    const kept = [...backups].map(([file, state]) => `${file} ${state.hash}`);
    return [hash, lastId, ...stack, ...kept].join(" ");
  }

  step(state: Catalogue, call: CatalogueCall): readonly Catalogue[] {
    if (call.kind === "command") return this.#commanded(state, call, call.order);
    const { asked, answer, key } = call;
    if (asked.do === "list") return answer && isPage(state, asked, answer) ? [state] : [];
    if (asked.do === "create") return this.#created(state, asked, answer, `${key} ${asked.once}`);
    const found = state.pets.find(({ id }) => id === asked.id);
    const shown = answer?.status === 200 ? textOf(answer.body as Pet) : undefined;
    return shown === (found && textOf(found)) ? [state] : [];
  }

  #created(
    state: Catalogue,
    { pet, once }: Asked & { do: "create" },
    answer: Answer | undefined,
    onceKey: string,
  ): readonly Catalogue[] {
    const kept = once === undefined ? undefined : state.once.get(onceKey);
    if (answer?.status === 400) return kept && !isSame(pet, kept) ? [state] : [];
    const body = answer?.status === 201 ? (answer.body as Pet) : undefined;
    if (body !== undefined && !isSame(body, pet)) return [];
    if (kept !== undefined) {
      const isRepeated = answer?.isReplay && kept.id === body?.id && isSame(kept, pet);
      return isRepeated || body === undefined ? [state] : [];
    }
    if (answer?.isReplay) return [];
    // Without a response: if it was added, then under an id that was seen.
    const ids = body === undefined ? (this.#idsOf.get(pet.name) ?? []) : [body.id];
    return ids.flatMap((id) => {
      // Ids ascend in the order of the commits.
      if (id <= state.lastId) return [];
      const after = { ...pet, id };
      const next = affected(state, new Map([[id, { after }]]));
      if (once === undefined) return [next];
      const hash = next.hash ^ Bun.hash.wyhash(`${onceKey} ${textOf(after)}`);
      return [{ ...next, once: new Map(state.once).set(onceKey, after), hash }];
    });
  }

  #commanded(state: Catalogue, command: Command, order: Order): readonly Catalogue[] {
    const effects = this.#effectsOf(state, order);
    if (this.isRead(command)) return effects === undefined ? [state] : [];
    if (effects === undefined || !isPrinted(command, effects)) return [];
    if (order.do === "backup") {
      return [{ ...state, backups: new Map(state.backups).set(order.file, state) }];
    }
    if (order.do === "restore backup") {
      // What changed since is lost; ids and backups are not.
      const { lastId, backups } = state;
      return [{ ...(backups.get(order.file) ?? emptyCatalogue), lastId, backups }];
    }
    const next = affected(state, effects);
    if (order.do === "undo") return [{ ...next, changes: state.changes.slice(0, -1) }];
    const differing = new Map([...effects].filter(([, effect]) => !isNothing(effect)));
    if (differing.size === 0) return [next];
    return [{ ...next, changes: [...state.changes, { command, effects: differing }] }];
  }

  /** What an order does now, or undefined if it cannot be carried out. */
  #effectsOf(state: Catalogue, order: Order): Effects | undefined {
    switch (order.do) {
      case "update":
      case "remove": {
        const effects = new Map<number, Effect>(order.ids.map((id) => [id, {}]));
        const found = state.pets.filter(({ id }) => effects.has(id));
        for (const before of found) {
          const after = order.do === "remove" ? undefined : updated(before, order);
          effects.set(before.id, { before, after });
        }
        return found.length < effects.size ? undefined : effects;
      }
      case "restore": {
        const after = state.removed.get(order.id);
        return after && new Map([[order.id, { after }]]);
      }
      case "undo": {
        const last = state.changes.at(-1);
        const back = [...(last?.effects ?? [])].map(([id, { before, after, former }]) => {
          return [id, { before: after, after: before, former }] as const;
        });
        return last && new Map(back);
      }
      case "import":
        return this.#imported(state, order);
      default:
        return new Map();
    }
  }

  #imported(state: Catalogue, { source, records, isComplete }: Order & { do: "import" }): Effects {
    const effects = new Map<number, Effect>();
    const there = new Map(state.pets.map((pet) => [pet.externalId, pet] as const));
    const gone = new Map([...state.removed.values()].map((pet) => [pet.externalId, pet] as const));
    let { lastId } = state;
    for (const { externalId, pet } of records) {
      const before = there.get(externalId);
      const former = before === undefined ? gone.get(externalId) : undefined;
      // A new animal that no response ever shows gets an id between those of its neighbours.
      const shown = this.#idsOf.get(stemOf(pet.name))?.find((id) => id > lastId);
      const id = before?.id ?? former?.id ?? shown ?? lastId + 1 / 4_096;
      lastId = Math.max(lastId, id);
      effects.set(id, { before, after: { ...pet, id, externalId }, former });
      there.delete(externalId);
    }
    for (const [externalId, before] of isComplete ? there : []) {
      if (externalId?.startsWith(`${source} `)) effects.set(before.id, { before });
    }
    return effects;
  }
}

/** An animal as responses show it. */
function textOf({ id, name, categoryId, status }: Pet): string {
  return `${id} ${categoryId} ${status} ${name}`;
}

function isSame(one: NewPet, other: NewPet): boolean {
  return textOf({ ...one, id: 0 }) === textOf({ ...other, id: 0 });
}

function isNothing({ before, after }: Effect): boolean {
  return before !== undefined && after !== undefined && isSame(before, after);
}

function isPage(state: Catalogue, asked: Asked & { do: "list" }, answer: Answer): boolean {
  const { limit, status, after = -Infinity, upTo = Infinity } = asked;
  const page = answer.body as readonly Pet[];
  let count = 0;
  for (const pet of state.pets) {
    if (pet.id <= after || (status !== undefined && pet.status !== status)) continue;
    if (pet.id > upTo) break;
    if (count === limit) return answer.hasNext;
    const shown = page[count];
    if (shown === undefined || textOf(shown) !== textOf(pet)) return false;
    count += 1;
  }
  return count === page.length && !answer.hasNext;
}

/** The state after everything has happened to its animals. */
function affected(state: Catalogue, effects: Effects): Catalogue {
  const removed = new Map(state.removed);
  const pets = state.pets.filter(({ id }) => !effects.has(id));
  let { hash } = state;
  const toggle = (where: string, pet: Pet | undefined) => {
    if (pet !== undefined) hash ^= Bun.hash.wyhash(`${where} ${textOf(pet)}`);
  };
  for (const [id, { before, after, former = before }] of effects) {
    toggle("removed", removed.get(id));
    removed.delete(id);
    toggle("there", before);
    toggle("there", after);
    if (after !== undefined) pets.push(after);
    else if (former !== undefined) {
      removed.set(id, former);
      toggle("removed", former);
    }
  }
  pets.sort((a, b) => a.id - b.id);
  return { ...state, pets, removed, hash, lastId: Math.max(state.lastId, ...effects.keys()) };
}

function updated(before: Animal, { name, categoryId, status }: Order & { do: "update" }): Animal {
  const { status: former, ...others } = before;
  const wanted = status ?? former;
  return {
    ...others,
    ...(name !== undefined && { name }),
    ...(categoryId !== undefined && { categoryId }),
    ...(wanted !== undefined && wanted !== "none" && { status: wanted }),
  };
}

/** True if the command printed what it did, or was killed before it could. */
function isPrinted({ order, exitCode, printed }: Command, effects: Effects): boolean {
  const all = [...effects.values()];
  if (exitCode === undefined || order.do.endsWith("backup")) return true;
  if (order.do !== "import" && order.do !== "undo") {
    const pets = all.flatMap(({ before, after = before }) => after ?? []);
    return pets.map(textOf).join() === ([printed].flat() as readonly Pet[]).map(textOf).join();
  }
  const gone = all.filter(({ after }) => after === undefined).length;
  const come = all.filter(({ before }) => before === undefined).length;
  const updated = all.filter((effect) => !isNothing(effect)).length - gone - come;
  const { added, withdrawn, restored, removed, ...counts } = printed as Record<string, number>;
  return (
    counts["updated"] === updated &&
    (order.do === "import" ? added : restored) === come &&
    (order.do === "import" ? withdrawn : removed) === gone
  );
}
