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

interface Timed {
  readonly callMs: number;
  /** Infinity if it may still take effect when the history is over. */
  returnMs: number;
}

export type Asked =
  | { readonly do: "create"; readonly pet: NewPet; readonly once?: string }
  | {
      readonly do: "list";
      readonly limit: number;
      readonly status?: Status;
      readonly after?: number;
      /** Of a page that was cut down: it shows no animals above this one. */
      readonly upTo?: number;
    }
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
  /** What its server added to that clock in the meantime: several if the clock was set. */
  readonly offsetsMs: readonly number[];
  /** Undefined if no whole answer came. */
  readonly answer: Answer | undefined;
}

export interface ImportedRecord {
  readonly externalId: string;
  readonly pet: NewPet;
}

export type Order =
  | {
      readonly do: "update";
      readonly ids: readonly number[];
      readonly name?: string;
      readonly categoryId?: number;
      readonly status?: Status | "none";
    }
  | { readonly do: "remove"; readonly ids: readonly number[] }
  | { readonly do: "restore"; readonly id: number }
  | { readonly do: "undo" }
  | {
      readonly do: "import";
      readonly source: string;
      readonly records: readonly ImportedRecord[];
      readonly isComplete: boolean;
    }
  | { readonly do: "limits"; readonly key: string; readonly limits: Limits }
  | { readonly do: "access"; readonly key: string; readonly readOnly: boolean }
  | { readonly do: "revoke"; readonly key: string }
  | { readonly do: "backup"; readonly file: string }
  | { readonly do: "restore backup"; readonly file: string };

/** A command of the command line. */
export interface Command extends Timed {
  readonly kind: "command";
  readonly order: Order;
  /** Undefined if it was killed. */
  readonly exitCode: number | undefined;
  readonly printed: unknown;
  readonly stderr: string;
}

/** Something that happens to the servers or to their clock. */
export interface Happening extends Timed {
  readonly kind: "happening";
  readonly what: "kill" | "kill one" | "stop" | "replace" | "clock";
  /** The server that it happens to; all of them have one clock. */
  readonly server: number;
  /** What the clock shows more than this machine's: before and after. */
  readonly offsetsMs?: readonly [before: number, after: number];
  readonly wallMs: number;
}

export type Call = Request | Command | Happening;

export interface History {
  readonly store: StoreKind;
  readonly processes: number;
  readonly calls: readonly Call[];
  /** The keys of the history, as they were when it began. */
  readonly keys: ReadonlyMap<string, Limits>;
}
