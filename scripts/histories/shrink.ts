/** Cuts what nothing explains down to the fewest calls that nothing explains. */
import type { Catalogue, CatalogueCall } from "./catalogue.ts";
import type { Call, Pet } from "./history.ts";
import type { KeyCall, KeyState } from "./limits.ts";
import { linearize, type Entry, type Model } from "./linearize.ts";

export interface Violation {
  /** "animals", "answers", or the name of a key. */
  readonly object: string;
  readonly why: string;
  /** The fewest calls that show it, the last one of which nothing explains. */
  readonly calls: readonly Call[];
  /** What the object may have been before them. */
  readonly before: unknown;
}

const why = "no order of these calls explains the last one";

export function animalsViolation(whole: Unexplained<Catalogue, CatalogueCall>): Violation {
  const fewest = shrunkAnimals(whole);
  const before = fewest.before.map(({ animals }) => animals);
  return { object: "animals", why, calls: callsOf(fewest), before };
}

export function keyViolation(object: string, whole: Unexplained<KeyState, KeyCall>): Violation {
  const fewest = fromLatest(withoutReads(untilBroken(whole)));
  const calls = callsOf(fewest).map(({ call }) => call);
  return { object, why, calls, before: fewest.before };
}

/**
 * Calls that nothing explains, from what was before them. A part of a history that can be explained
 * can be explained, so what is left of one that is broken is broken too.
 */
interface Unexplained<State, Operation> {
  readonly model: Model<State, Operation>;
  readonly before: readonly State[];
  readonly entries: readonly Entry<Operation>[];
}

function isBroken<State, Operation>({ model, before, entries }: Unexplained<State, Operation>) {
  return linearize(model, before, entries).unexplained !== undefined;
}

/** More calls than these begin as late as they can. */
const callsWanted = 12;

/** Leaves out animals too that no other call names. */
function shrunkAnimals<State>(
  whole: Unexplained<State, CatalogueCall>,
): Unexplained<State, CatalogueCall> {
  let left = withoutReads(untilBroken(whole));
  for (const { operation } of left.entries) {
    const created = operation.kind === "request" ? operation.answer?.body : undefined;
    const { id } = (created ?? {}) as Partial<Pet>;
    if (id === undefined || isNamed(left.entries, id)) continue;
    const without = { ...left, entries: withoutAnimal(left.entries, id) };
    if (isBroken(without)) left = without;
  }
  return fromLatest(withoutReads(left));
}

/** The calls, the one last that nothing explains. */
function callsOf<State, Operation>({
  model,
  before,
  entries,
}: Unexplained<State, Operation>): readonly Operation[] {
  const { unexplained } = linearize(model, before, entries);
  const others = entries.filter((entry) => entry !== unexplained);
  return [...others, ...(unexplained ? [unexplained] : [])].map(({ operation }) => operation);
}

/** The calls up to the first return that nothing explains. */
function untilBroken<State, Operation>(
  whole: Unexplained<State, Operation>,
): Unexplained<State, Operation> {
  const { unexplained } = linearize(whole.model, whole.before, whole.entries);
  if (unexplained === undefined) return whole;
  const { toMs } = unexplained;
  // A read of an earlier moment comes after what it has to show all the same.
  const began = ({ fromMs, after = [] }: Entry<Operation>) =>
    Math.max(fromMs, ...after.map((earlier) => earlier.toMs)) <= toMs;
  return { ...whole, entries: whole.entries.filter(began) };
}

/** Reads change nothing, so any of them can be left out. */
function withoutReads<State, Operation>(
  whole: Unexplained<State, Operation>,
): Unexplained<State, Operation> {
  let left = whole;
  for (const entry of whole.entries) {
    if (!whole.model.isRead(entry.operation)) continue;
    const without = { ...left, entries: left.entries.filter((each) => each !== entry) };
    if (isBroken(without)) left = without;
  }
  return left;
}

/** Begins at the last moment without a call under way from which the rest is not explained. */
function fromLatest<State, Operation>(
  whole: Unexplained<State, Operation>,
): Unexplained<State, Operation> {
  if (whole.entries.length <= callsWanted) return whole;
  const inTime = whole.entries.toSorted((a, b) => a.fromMs - b.fromMs);
  for (let at = inTime.length - 1; at > 0; at -= 1) {
    const first = inTime.slice(0, at);
    const atMs = inTime[at]?.fromMs ?? 0;
    if (first.some(({ toMs }) => toMs >= atMs)) continue;
    const reached = linearize(whole.model, whole.before, first);
    if (reached.unexplained !== undefined) continue;
    const rest = { ...whole, before: reached.states, entries: inTime.slice(at) };
    if (isBroken(rest)) return withoutReads(rest);
  }
  return whole;
}

function isNamed(entries: readonly Entry<CatalogueCall>[], id: number): boolean {
  return entries.some(({ operation }) => {
    if (operation.kind === "request")
      return operation.asked.do === "get" && operation.asked.id === id;
    const { order } = operation;
    return ("ids" in order && order.ids.includes(id)) || ("id" in order && order.id === id);
  });
}

/** The calls as they were if an animal and the creates that returned it had never been. */
function withoutAnimal(
  entries: readonly Entry<CatalogueCall>[],
  id: number,
): readonly Entry<CatalogueCall>[] {
  const others = entries.filter(({ operation }) => {
    const body = operation.kind === "request" ? operation.answer?.body : undefined;
    return (body as Partial<Pet> | undefined)?.id !== id;
  });
  const shown = new Map(others.map((entry) => [entry, withoutOn(entry, id)] as const));
  return [...shown].map(([{ after }, entry]) =>
    after === undefined
      ? entry
      : { ...entry, after: after.flatMap((each) => shown.get(each) ?? []) },
  );
}

/** A page without an animal; what it says of a next page is lost. */
function withoutOn(entry: Entry<CatalogueCall>, id: number): Entry<CatalogueCall> {
  const { operation } = entry;
  if (operation.kind !== "request" || operation.asked.do !== "list") return entry;
  const { asked, answer } = operation;
  if (answer === undefined) return entry;
  const page = answer.body as readonly Pet[];
  const upTo = answer.hasNext ? (page.at(-1)?.id ?? 0) : (asked.upTo ?? Infinity);
  const body = page.filter((pet) => pet.id !== id);
  return {
    ...entry,
    operation: {
      ...operation,
      asked: { ...asked, limit: Infinity, upTo },
      answer: { ...answer, body, hasNext: false },
    },
  };
}
