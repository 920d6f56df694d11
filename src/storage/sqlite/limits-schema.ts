/** The tables of `limits.db` as SQLite has them. drizzle-kit wants a file for each database. */
import * as tables from "../counters.ts";
import { tableOf } from "./columns.ts";

export const rateWindows = tableOf(tables.rateWindows);
export const usageDays = tableOf(tables.usageDays);
