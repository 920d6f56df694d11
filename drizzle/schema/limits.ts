/** The tables of `limits.db`, as drizzle-kit takes them: what a module exports. */
import { sqliteTables } from "../../src/storage/schema.sqlite.ts";

export const { rateWindows, usageDays } = sqliteTables;
