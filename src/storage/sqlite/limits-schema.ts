/** The tables of `limits.db` as SQLite has them. */
import * as tables from "../limits-tables.ts";
import { tableOf } from "./columns.ts";

export const rateWindows = tableOf(tables.rateWindows);
export const usageDays = tableOf(tables.usageDays);
