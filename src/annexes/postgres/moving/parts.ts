/**
 * Everything that a store keeps, part by part, as rows that both databases understand: what moving from one store to
 * another reads and writes. It sees what the rest of the contract hides, such as the hashes of secrets.
 */
import type { Awaitable } from "../../../storage/contract.ts";

export type Cell = bigint | string | Uint8Array | null;
/** A row of a part: its cells in the order of the part's columns. */
export type Row = readonly Cell[];

export interface Column {
  readonly name: string;
  readonly type: "integer" | "text" | "json" | "bytes";
}

export interface Part {
  /** The table in both databases. */
  readonly table: string;
  readonly columns: readonly Column[];
  /** So many columns at the front are the primary key. */
  readonly keyColumns: number;
  /** What a person calls its rows. */
  readonly title: string;
}

const integer = (name: string): Column => ({ name, type: "integer" });
const text = (name: string): Column => ({ name, type: "text" });
const json = (name: string): Column => ({ name, type: "json" });
const bytes = (name: string): Column => ({ name, type: "bytes" });

export const petsPart: Part = {
  table: "pets",
  title: "animals",
  keyColumns: 1,
  columns: [
    integer("id"),
    text("name"),
    integer("category_id"),
    text("status"),
    text("external_id"),
  ],
};

export const keysPart: Part = {
  table: "api_keys",
  title: "keys",
  keyColumns: 1,
  columns: [
    text("id"),
    text("name"),
    text("plan"),
    integer("per_minute"),
    integer("per_day"),
    integer("created_at_ms"),
    integer("expires_at_ms"),
    integer("revoked_at_ms"),
    integer("banned_until_ms"),
    integer("ban_step"),
    text("ban_reason"),
    json("noisy_minutes"),
    integer("changed_in"),
  ],
};

/** Every part, in an order in which each refers only to those before it. The largest is the last. */
export const parts: readonly Part[] = [
  {
    table: "categories",
    title: "categories",
    keyColumns: 1,
    columns: [integer("id"), text("name"), text("name_key")],
  },
  keysPart,
  {
    table: "key_secrets",
    title: "secrets' hashes",
    keyColumns: 1,
    columns: [
      bytes("hash"),
      text("key_id"),
      text("mask"),
      integer("created_at_ms"),
      integer("expires_at_ms"),
    ],
  },
  {
    table: "key_events",
    title: "events",
    keyColumns: 1,
    columns: [
      integer("id"),
      text("key_id"),
      integer("at_ms"),
      text("actor"),
      text("action"),
      json("before"),
      json("after"),
    ],
  },
  {
    table: "rate_windows",
    title: "counters",
    keyColumns: 1,
    columns: [
      text("key_id"),
      integer("minute_label"),
      integer("minute_used"),
      integer("day_label"),
      integer("day_used"),
    ],
  },
  {
    table: "usage_days",
    title: "days of usage",
    keyColumns: 2,
    columns: [
      text("key_id"),
      integer("day"),
      integer("requests"),
      integer("refusals"),
      integer("bans"),
    ],
  },
  petsPart,
];

/** The last numbers that were given out, so that the other store goes on behind them. */
export interface LastNumbers {
  readonly pet: bigint;
  readonly event: bigint;
  readonly epoch: bigint;
}

export interface TransferStore {
  /** At most `limit` rows in the order of their key, above the key `after` where one is given. */
  read(part: Part, after: readonly Cell[] | undefined, limit: number): Awaitable<Row[]>;
  /** Adds rows in one transaction; one whose key is there already is left as it is. */
  write(part: Part, rows: readonly Row[]): Awaitable<void>;
  /** The highest id of an animal, or 0. */
  lastPet(): Awaitable<bigint>;
  lastNumbers(): Awaitable<LastNumbers>;
  /** Ends a transfer into this store: numbers go on behind `last`, and whoever serves from it reads everything again. */
  finish(last: LastNumbers): Awaitable<void>;
}
