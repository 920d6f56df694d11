/** The animals as one object: a list is one read of it. */
import { isSame, textOf } from "./history.ts";
import type { Answer, Asked, Command, IdsOfNames, Order, Pet, Request, Status } from "./history.ts";
import type { Model } from "./linearize.ts";

interface Animal extends Omit<Pet, "status"> {
  readonly status?: Status | "none";
  readonly isRemoved?: boolean;
}

/** What happens to an animal: no `before` if it never was. */
interface Effect {
  readonly before?: Animal | undefined;
  readonly after: Animal;
}

export interface Catalogue {
  /** In the order of their ids, those that are removed too. */
  readonly animals: readonly Animal[];
  /** Creates with an Idempotency-Key, by their caller and its value. */
  readonly once: ReadonlyMap<string, Pet>;
  /** Changes of people that are in force, the newest last. */
  readonly changes: readonly { readonly callMs: number; readonly effects: readonly Effect[] }[];
  readonly lastId: number;
  /** Of animals and `once`: 64 bits keep different states apart. */
  readonly hash: bigint;
  /** Of the whole history, see `idsOfNames`. */
  readonly idsOf: IdsOfNames;
}

const none = { once: new Map(), idsOf: new Map() };
export const emptyCatalogue: Catalogue = { animals: [], changes: [], ...none, lastId: 0, hash: 0n };

export type CatalogueCall = Request | Command;

export const catalogueModel: Model<Catalogue, CatalogueCall> = {
  isRead(call) {
    if (call.kind === "command") return call.exitCode !== 0;
    const { asked, answer } = call;
    return asked.do !== "create" || answer?.status === 400 || answer?.isReplay === true;
  },
  key({ hash, lastId, changes }) {
    return [hash, lastId, ...changes.map(({ callMs }) => callMs)].join(" ");
  },
  step(state, call) {
    if (call.kind === "command") return commanded(state, call);
    const { asked, answer, key } = call;
    if (asked.do === "create") return created(state, asked, answer, `${key} ${asked.once}`);
    if (asked.do === "list") return answer && isPage(state, asked, answer) ? [state] : [];
    const found = state.animals.find(({ id, isRemoved }) => id === asked.id && !isRemoved);
    const shown = answer?.status === 200 ? textOf(answer.body as Pet) : undefined;
    return shown === (found && textOf(found)) ? [state] : [];
  },
};

function created(
  state: Catalogue,
  { pet, once }: Asked & { do: "create" },
  answer: Answer | undefined,
  onceKey: string,
): readonly Catalogue[] {
  const stored = once === undefined ? undefined : state.once.get(onceKey);
  const isOther = stored !== undefined && !isSame(stored, pet);
  const body = answer?.status === 201 ? (answer.body as Pet) : undefined;
  if (answer?.status === 400) return isOther ? [state] : [];
  if (body !== undefined && (isOther || !isSame(body, pet))) return [];
  if (stored !== undefined || answer?.isReplay)
    return !body || (answer?.isReplay && stored?.id === body.id) ? [state] : [];
  // Without a response: if it was added, then under an id that was seen.
  const ids = body === undefined ? (state.idsOf.get(pet.name) ?? []) : [body.id];
  // Ids ascend in the order of the commits.
  const possible = ids.filter((id) => id > state.lastId);
  return possible.map((id) => {
    const after = { ...pet, id };
    const next = affected(state, [{ after }]);
    if (once === undefined) return next;
    const hash = next.hash ^ Bun.hash.wyhash(`${onceKey} ${textOf(after)}`);
    return { ...next, once: new Map(state.once).set(onceKey, after), hash };
  });
}

function commanded(state: Catalogue, command: Command): readonly Catalogue[] {
  const { order, callMs } = command;
  const effects = effectsOf(state, order);
  if (catalogueModel.isRead(command)) return effects === undefined ? [state] : [];
  if (effects === undefined || !isPrinted(command, effects)) return [];
  const { changes } = state;
  const next = affected(state, effects);
  if (order.do === "undo") return [{ ...next, changes: changes.slice(0, -1) }];
  const differing = effects.filter((effect) => kindOf(effect) !== "unchanged");
  if (differing.length === 0) return [next];
  return [{ ...next, changes: [...changes, { callMs, effects: differing }] }];
}

/** What an order does now, or undefined if it cannot be carried out. */
function effectsOf(state: Catalogue, order: Order): readonly Effect[] | undefined {
  const each = (ids: readonly number[], isRemoved: boolean, set: Partial<Animal>) => {
    const found = ids.flatMap((id) => state.animals.find((animal) => animal.id === id) ?? []);
    const fitting = found.filter((animal) => (animal.isRemoved ?? false) === isRemoved);
    const effects = fitting.map((before) => ({ before, after: { ...before, ...set } }));
    return effects.length < ids.length ? undefined : effects;
  };
  switch (order.do) {
    case "update":
      return each(order.ids, false, order.set);
    case "remove":
      return each(order.ids, false, { isRemoved: true });
    case "restore":
      return each([order.id], true, { isRemoved: false });
    case "undo":
      return state.changes.at(-1)?.effects.map(({ before, after }) => {
        return { before: after, after: before ?? { ...after, isRemoved: true } };
      });
    default:
      return [];
  }
}

function kindOf({ before, after }: Effect): "come" | "gone" | "updated" | "unchanged" {
  const wasThere = before !== undefined && !before.isRemoved;
  if (after.isRemoved) return wasThere ? "gone" : "unchanged";
  if (!wasThere) return "come";
  return isSame(before, after) ? "unchanged" : "updated";
}

function isPage(state: Catalogue, asked: Asked & { do: "list" }, answer: Answer): boolean {
  const { limit, status: wanted, after = -Infinity } = asked;
  const page = answer.body as readonly Pet[];
  let count = 0;
  for (const animal of state.animals) {
    const { id, status, isRemoved } = animal;
    if (id <= after || isRemoved || status !== (wanted ?? status)) continue;
    if (count === limit) return answer.hasNext;
    const shown = page[count];
    if (shown === undefined || textOf(shown) !== textOf(animal)) return false;
    count += 1;
  }
  return count === page.length && !answer.hasNext;
}

/** The state after everything has happened to its animals. */
function affected(state: Catalogue, effects: readonly Effect[]): Catalogue {
  const hashOf = (animal: Animal) =>
    Bun.hash.wyhash(`${animal.isRemoved ?? false} ${textOf(animal)}`);
  let { hash } = state;
  for (const { before, after } of effects)
    hash ^= hashOf(after) ^ (before === undefined ? 0n : hashOf(before));
  const ids = new Set(effects.map(({ after }) => after.id));
  const others = state.animals.filter(({ id }) => !ids.has(id));
  const animals = [...others, ...effects.map(({ after }) => after)].toSorted((a, b) => a.id - b.id);
  return { ...state, animals, hash, lastId: Math.max(state.lastId, ...ids) };
}

/** True if the command printed what it did. */
function isPrinted({ order, printed }: Command, effects: readonly Effect[]): boolean {
  if (order.do !== "undo") {
    const shown = effects.map(({ after }) => textOf(after));
    return shown.join() === ([printed].flat() as readonly Pet[]).map(textOf).join();
  }
  const count = (kind: string) => effects.filter((effect) => kindOf(effect) === kind).length;
  const { updated, restored, removed } = printed as Record<string, number>;
  return [updated, restored, removed].join() === ["updated", "come", "gone"].map(count).join();
}
