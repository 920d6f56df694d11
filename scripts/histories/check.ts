/** Explains a history, or says what of it nothing explains. */
import {
  CatalogueModel,
  emptyCatalogue,
  stemOf,
  type Catalogue,
  type CatalogueCall,
} from "./catalogue.ts";
import type { Call, History, Pet, Request } from "./history.ts";
import { KeyModel, notByOne, reservationOf, unusedKey, type KeyCall } from "./limits.ts";
import { linearize, type Entry } from "./linearize.ts";
import { callsOf, shrunk, shrunkAnimals } from "./shrink.ts";

export interface Violation {
  /** "animals", "answers", or the name of a key. */
  readonly object: string;
  readonly why: string;
  /** The fewest calls that show it, the last one of which nothing explains. */
  readonly calls: readonly Call[];
  /** What the object may have been before them. */
  readonly before: unknown;
}

/** What the animals may be afterwards, or why there is no explanation. */
export type Checked =
  | { readonly violation: Violation }
  | { readonly violation: undefined; readonly catalogues: readonly Catalogue[] };

/** A read shows what was current so long ago at most. */
const staleMs = { sqlite: 0, processes: 0, postgres: 1_000 };
/** How far a server's idea of the store's clock may be from this machine's clock. */
const toleranceMs = { sqlite: 5, processes: 5, postgres: 1_000 };
const noOrder = "no order of these calls explains the last one";
const promised: readonly unknown[] = [200, 201, 400, 401, 403, 404, 429, 503, undefined];

export function check(history: History, before: readonly Catalogue[] = [emptyCatalogue]): Checked {
  const calls = history.calls.toSorted((a, b) => a.callMs - b.callMs);
  const requests = calls.filter((call) => call.kind === "request");
  const strange = requests.find(({ answer }) => !promised.includes(answer?.status));
  if (strange !== undefined) {
    const why = "nobody promised such an answer";
    return { violation: { object: "answers", why, calls: [strange], before: undefined } };
  }
  for (const key of history.keys.keys()) {
    const violation = checkKey(history, calls, key);
    if (violation !== undefined) return { violation };
  }
  return checkAnimals(history, calls, before);
}

function isUnknown(call: Call): boolean {
  if (call.kind === "command") return call.exitCode === undefined;
  return call.kind === "request" && (call.answer === undefined || call.answer.status === 503);
}

function checkAnimals(
  { store }: History,
  calls: readonly Call[],
  before: readonly Catalogue[],
): Checked {
  const ids = idsOfStems(calls);
  const related = calls.filter((call): call is CatalogueCall => isOfAnimals(call, ids));
  const model = new CatalogueModel(ids);
  const entries: Entry<CatalogueCall>[] = [];
  for (const operation of related) {
    const isStale = operation.kind === "request" && model.isRead(operation);
    const fromMs = operation.callMs - (isStale ? staleMs[store] : 0);
    const isMaybe = isUnknown(operation);
    const after = isStale ? entries.filter((entry) => mustShow(operation, entry, fromMs)) : [];
    entries.push({ operation, fromMs, toMs: operation.returnMs, isMaybe, after });
  }
  const verdict = linearize(model, before, entries);
  if (verdict.isExplained) return { violation: undefined, catalogues: verdict.states };
  const fewest = shrunkAnimals({ model, before, entries });
  const pets = fewest.before.map((state) => state.pets);
  return { violation: { object: "animals", why: noOrder, calls: callsOf(fewest), before: pets } };
}

/** A server sees its own commits at once: those that a page, or an animal, shows. */
function mustShow(read: Request, { operation, toMs }: Entry<CatalogueCall>, fromMs: number) {
  if (operation.kind !== "request" || operation.server !== read.server) return false;
  if (toMs < fromMs || toMs >= read.callMs) return false;
  if (operation.answer?.status !== 201 || operation.answer.isReplay) return false;
  const { asked, answer } = read;
  const { id, status } = operation.answer.body as Pet;
  if (asked.do !== "list") return asked.do === "get" && asked.id === id;
  const last = answer?.hasNext ? (answer.body as readonly Pet[]).at(-1)?.id : undefined;
  return (asked.after ?? 0) < id && id <= (last ?? id) && status === (asked.status ?? status);
}

/** True for a call that read or may have changed animals. */
function isOfAnimals(call: Call, ids: ReadonlyMap<string, readonly number[]>): boolean {
  if (call.kind === "happening") return false;
  if (call.kind === "command") return !("key" in call.order);
  const { answer, asked } = call;
  // One that nobody ever saw may as well not have been.
  if (isUnknown(call)) return asked.do === "create" && ids.has(asked.pet.name);
  return [200, 201, 400, 404].includes(answer?.status ?? 0);
}

function idsOfStems(calls: readonly Call[]): ReadonlyMap<string, readonly number[]> {
  const shown = calls.flatMap((call) => {
    if (call.kind === "happening") return [];
    return (call.kind === "request" ? call.answer?.body : call.printed) ?? [];
  }) as readonly Partial<Pet>[];
  const found = new Map<string, number>();
  for (const { id, name } of shown) if (id && name) found.set(`${id} ${stemOf(name)}`, id);
  const ascending = [...found].toSorted(([, a], [, b]) => a - b);
  const byStem = Map.groupBy(ascending, ([text]) => text.slice(text.indexOf(" ") + 1));
  return new Map([...byStem].map(([stem, all]) => [stem, all.map(([, id]) => id)]));
}

function checkKey(history: History, calls: readonly Call[], key: string): Violation | undefined {
  const { store, processes } = history;
  const related = calls.filter((call) => {
    if (call.kind === "request") return call.key === key;
    if (call.kind === "happening") return true;
    const { order } = call;
    return "key" in order ? order.key === key : order.do.endsWith("backup");
  });
  const limits = history.keys.get(key) ?? { perMinute: 0, perDay: 0 };
  const all = related.map((call) =>
    call.kind === "command" && call.order.do === "limits" ? call.order.limits : limits,
  );
  const happened = related.filter(({ kind }) => kind === "happening");
  const isExact = processes === 1;
  // Of each other process, and of each that was killed; while processes are replaced, of both.
  const elsewhere =
    (processes * (happened.length + 1) - 1) * Math.max(...[limits, ...all].map(reservationOf));
  const model = new KeyModel({
    isExact,
    elsewhere: isExact ? 0 : elsewhere,
    toleranceMs: toleranceMs[store],
  });
  const entries = related.flatMap((call): Entry<KeyCall>[] => {
    const { callMs: fromMs, returnMs: toMs } = call;
    const entry = { operation: { call }, fromMs, toMs, isMaybe: isUnknown(call) };
    if (store !== "postgres" || call.kind !== "command") return [entry];
    // Each server learns of a change at its own moment, before the command returns.
    return [
      { ...entry, operation: { call, part: "begins" }, toMs: fromMs },
      { ...entry, operation: { call, part: "ends" }, fromMs: toMs },
    ];
  });
  const whole = { model, before: [unusedKey(limits)], entries };
  if (!linearize(model, whole.before, entries).isExplained) {
    const fewest = shrunk(whole);
    const shown = callsOf(fewest).map(({ call }) => call);
    return { object: key, why: noOrder, calls: shown, before: fewest.before };
  }
  const broken = notByOne(related);
  if (broken === undefined) return undefined;
  const shown = related.filter(({ callMs }) => callMs <= broken.callMs);
  const why = "one connection alone used the key, and Remaining did not fall by one";
  return { object: key, why, calls: shown, before: limits };
}
