/** The tables and builders of SQLite, under PostgreSQL's types. The tests run them on both. */
import { drizzle } from "drizzle-orm/bun-sqlite";
import {
  blob,
  check,
  customType,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { jsonText, parseJson } from "../domain/exact-json.ts";
import type { Db } from "./database.ts";
import { type Kit, tablesOf } from "./schema.ts";
import type { Prepare } from "./sqlite/lanes.ts";

const kit = {
  isSqlite: true,
  table: sqliteTable,
  // The connections have `safeIntegers`.
  int64: customType<{ data: bigint; driverData: bigint }>({ dataType: () => "integer" }),
  count: customType<{ data: number; driverData: bigint | number }>({
    dataType: () => "integer",
    fromDriver: Number,
  }),
  text,
  bytes: blob,
  /** Drizzle's own type rounds an int64. */
  json: <T>() =>
    customType<{ data: T; driverData: string }>({
      dataType: () => "text",
      toDriver: (value) => jsonText(value),
      fromDriver: (text) => parseJson(text) as T,
    }),
  givenId: () => integer("id").primaryKey({ autoIncrement: true }),
  check,
  index,
  uniqueIndex,
  primaryKey,
};

const sqlite = { kit, on: drizzle } as unknown as {
  readonly kit: Kit;
  readonly on: { (client: { prepare: Prepare }): Db; mock(): Db };
};

export const sqliteTables = tablesOf(sqlite.kit);
export const buildersOn = sqlite.on;
