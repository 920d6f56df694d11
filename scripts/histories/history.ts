/** What is recorded of a history: calls with the times between which they took effect. */

export type Status = "available" | "pending" | "sold";
/** One process, four on one data folder, and two servers on one database. */
export const stores = ["sqlite", "processes", "postgres"] as const;
export type StoreKind = (typeof stores)[number];

export interface NewPet {
  readonly name: string;
  readonly categoryId: number;
  readonly status?: Status;
}

export interface Pet extends NewPet {
  readonly id: number;
}

export interface Limits {
  readonly perMinute: number;
  readonly perDay: number;
}

export interface KeySettings extends Limits {
  readonly readOnly: boolean;
  readonly isRevoked: boolean;
}

interface Timed {
  readonly callMs: number;
  /** Infinity if it may still take effect when the history is over. */
  returnMs: number;
}

export interface AskedList {
  readonly do: "list";
  readonly limit: number;
  readonly status?: Status;
  readonly after?: number;
}

export type Asked =
  | { readonly do: "create"; readonly pet: NewPet; readonly once?: string }
  | AskedList
  | { readonly do: "get"; readonly id: number };

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
  readonly retryAfterSeconds: number | undefined;
  readonly isReplay: boolean;
  /** True if it links to a next page. */
  readonly hasNext: boolean;
}

export interface Request extends Timed {
  readonly kind: "request";
  readonly client: number;
  /** The number of its connection: another one may be to another process. */
  readonly connection: number;
  readonly server: number;
  readonly key: string;
  readonly asked: Asked;
  /** By the clock of this machine, which decides on windows. */
  readonly callWallMs: number;
  readonly returnWallMs: number;
  /** Undefined if no whole answer came. */
  readonly answer: Answer | undefined;
}

export interface ChangeOfPet {
  readonly name?: string;
  readonly categoryId?: number;
  readonly status?: Status | "none";
}

export type Order =
  | { readonly do: "update"; readonly ids: readonly number[]; readonly set: ChangeOfPet }
  | { readonly do: "remove"; readonly ids: readonly number[] }
  | { readonly do: "restore"; readonly id: number }
  | { readonly do: "undo" }
  | { readonly do: "change key"; readonly key: string; readonly set: Partial<KeySettings> };

/** A command of the command line. */
export interface Command extends Timed {
  readonly kind: "command";
  readonly order: Order;
  readonly exitCode: number;
  readonly printed: unknown;
  readonly stderr: string;
}

/** Something that happens to the servers. */
export interface Happening extends Timed {
  readonly kind: "happening";
  readonly what: "kill" | "kill one" | "stop" | "replace";
  readonly server: number;
}

export type Call = Request | Command | Happening;

export interface History {
  readonly store: StoreKind;
  readonly processes: number;
  readonly calls: readonly Call[];
  /** Keys, as they were when the history began. */
  readonly keys: ReadonlyMap<string, Limits>;
}

/** True if nobody knows whether the call took effect. */
export function isUnknown(call: Call): boolean {
  return call.kind === "request" && (call.answer === undefined || call.answer.status === 503);
}

export type IdsOfNames = ReadonlyMap<string, readonly number[]>;

/** The ids, ascending, that responses show for a name: not each create tells them. */
export function idsOfNames(calls: readonly Call[]): IdsOfNames {
  const shown = calls.flatMap((call) => {
    if (call.kind === "happening") return [];
    return (call.kind === "request" ? call.answer?.body : call.printed) ?? [];
  }) as readonly Partial<Pet>[];
  const found = new Map<string, Set<number>>();
  for (const { id, name } of shown)
    if (id && name) found.getOrInsertComputed(name, () => new Set()).add(id);
  return new Map([...found].map(([name, ids]) => [name, [...ids].toSorted((a, b) => a - b)]));
}

/** The minutes in which a server may have decided on a request. */
export function minutesOf(request: Request, toleranceMs: number): readonly number[] {
  const { callWallMs, returnWallMs } = request;
  const first = Math.floor((callWallMs - toleranceMs) / 60_000);
  const last = Math.floor((returnWallMs + toleranceMs) / 60_000);
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

/** What a process takes ahead: one second of the limits. */
export function reservationOf({ perMinute, perDay }: Limits): number {
  return Math.ceil(Math.min(perMinute, perDay) / 60);
}

type Shown = Omit<NewPet, "status"> & { readonly id?: number; readonly status?: Status | "none" };

/** An animal as responses show it. */
export function textOf({ id, name, categoryId, status = "none" }: Shown): string {
  return `${id} ${categoryId} ${status} ${name}`;
}

/** True if one animal could be the other but for its id. */
export function isSame(one: Shown, other: Shown): boolean {
  return textOf({ ...one, id: 0 }) === textOf({ ...other, id: 0 });
}
