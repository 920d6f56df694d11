/** The tables that Drizzle writes statements for. drizzle/schema/ has all, for migrations. */
import { isNotNull, sql } from "drizzle-orm";
import { check, index } from "drizzle-orm/sqlite-core";
import { petFieldNames } from "../../domain/pet.ts";
import * as limits from "../counters.ts";
import * as tables from "../tables.ts";
import { tableOf } from "./columns.ts";

export const pets = tableOf(tables.pets, ({ status, id, ...at }) => [
  check("pets_name", sql`instr(${at.name}, char(0)) = 0`),
  // Holds every column of an answer, so that a filtered page is read from the index alone.
  index("pets_by_status")
    .on(status, id, ...petFieldNames.flatMap((field) => (field === "status" ? [] : at[field])))
    .where(isNotNull(status)),
]);

export const rateWindows = tableOf(limits.rateWindows);
export const usageDays = tableOf(limits.usageDays);
