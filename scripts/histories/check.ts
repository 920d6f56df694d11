/** Explains a history, or says what of it nothing explains. */
import { catalogueModel, emptyCatalogue, type Catalogue, type CatalogueCall } from "./catalogue.ts";
import { idsOfNames, isUnknown, reservationOf } from "./history.ts";
import type { Call, History, IdsOfNames, Pet, Request } from "./history.ts";
import { keyModel, unusedKey, type KeyCall } from "./limits.ts";
import { linearize, type Entry, type Model } from "./linearize.ts";

interface Violation {
  /** "animals", or the name of a key. */
  readonly object: string;
  /** The calls up to the one that no order explains, which comes last. Reads apart, all are here. */
  readonly calls: readonly Call[];
  /** What the object may have been before them. */
  readonly before: unknown;
}

export interface Checked {
  readonly violation?: Violation;
  /** What the animals may be afterwards. */
  readonly catalogues: readonly Catalogue[];
}

/** A read shows what was current so long ago at most. */
const staleMs = { sqlite: 0, processes: 0.2, postgres: 1_000 };
/** How far a server's idea of the store's clock may be from this machine's clock. */
const toleranceMs = { sqlite: 5, processes: 5, postgres: 1_000 };

export function check(recorded: History, before: readonly Catalogue[] = [emptyCatalogue]): Checked {
  const calls = recorded.calls.toSorted((a, b) => a.callMs - b.callMs);
  const history = { ...recorded, calls };
  for (const key of history.keys.keys()) {
    const violation = checkKey(history, key);
    if (violation !== undefined) return { violation, catalogues: [] };
  }
  return checkAnimals(history, before);
}

function checkAnimals({ store, calls }: History, initial: readonly Catalogue[]): Checked {
  const idsOf = idsOfNames(calls);
  const before = initial.map((state) => ({ ...state, idsOf }));
  const model = catalogueModel;
  const entries: Entry<CatalogueCall>[] = [];
  for (const operation of calls) {
    if (!isOfAnimals(operation, idsOf)) continue;
    const isStale = operation.kind === "request" && model.isRead(operation);
    const fromMs = operation.callMs - (isStale ? staleMs[store] : 0);
    const isMaybe = isUnknown(operation);
    const after = isStale ? entries.filter((entry) => mustShow(operation, entry, fromMs)) : [];
    entries.push({ operation, fromMs, toMs: operation.returnMs, isMaybe, after });
  }
  const { unexplained, states } = linearize(model, before, entries);
  if (unexplained === undefined) return { catalogues: states };
  const animals = before.map((state) => state.animals);
  const shown = callsUpTo(model, entries, unexplained).map(({ operation }) => operation);
  return { violation: { object: "animals", calls: shown, before: animals }, catalogues: [] };
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
function isOfAnimals(call: Call, ids: IdsOfNames): call is CatalogueCall {
  if (call.kind !== "request") return call.kind === "command" && !("key" in call.order);
  const { answer, asked } = call;
  // One that nobody ever saw may as well not have been.
  if (isUnknown(call)) return asked.do === "create" && ids.has(asked.pet.name);
  return [200, 201, 400, 404].includes(answer?.status ?? 0);
}

function checkKey({ store, processes, keys, ...all }: History, name: string) {
  const calls = all.calls.filter((call) => {
    if (call.kind === "request") return call.key === name;
    if (call.kind === "happening") return true;
    return "key" in call.order && call.order.key === name;
  });
  const limits = keys.get(name) ?? { perMinute: 0, perDay: 0 };
  const later = calls.flatMap((call) =>
    call.kind === "command" && "set" in call.order ? { ...limits, ...call.order.set } : [],
  );
  // Of each other process, and of each that was killed; while processes are replaced, of both.
  const happened = calls.filter(({ kind }) => kind === "happening").length;
  const reservation = Math.max(...[limits, ...later].map(reservationOf));
  const elsewhere = processes === 1 ? 0 : (processes * (happened + 1) - 1) * reservation;
  const requests = calls.filter((call) => call.kind === "request");
  const others = requests.filter(({ connection }) => connection !== requests[0]?.connection);
  const sharedMs = Math.min(...others.map(({ callMs }) => callMs));
  const model = keyModel({ elsewhere, toleranceMs: toleranceMs[store], sharedMs });
  const entries = calls.flatMap((call): Entry<KeyCall>[] => {
    const { callMs: fromMs, returnMs: toMs } = call;
    const entry = { operation: { call }, fromMs, toMs, isMaybe: isUnknown(call) };
    if (store !== "postgres" || call.kind !== "command") return [entry];
    // Each server learns of a change at its own moment, before the command returns.
    return [
      { ...entry, operation: { call, part: "begins" }, toMs: fromMs },
      { ...entry, operation: { call, part: "ends" }, fromMs: toMs },
    ];
  });
  const before = [unusedKey(limits)];
  const { unexplained } = linearize(model, before, entries);
  if (unexplained === undefined) return undefined;
  const shown = callsUpTo(model, entries, unexplained).map(({ operation }) => operation.call);
  return { object: name, calls: shown, before };
}

/** The writes that began before the unexplained entry returned, and that entry. */
function callsUpTo<State, Operation>(
  model: Model<State, Operation>,
  entries: readonly Entry<Operation>[],
  unexplained: Entry<Operation>,
): readonly Entry<Operation>[] {
  const writes = entries.filter(
    (entry) =>
      entry !== unexplained && entry.fromMs <= unexplained.toMs && !model.isRead(entry.operation),
  );
  return [...writes, unexplained];
}
