/** The tables of `rehome.db` as SQLite has them. Limits are kept apart, see limits-schema.ts. */
import { isNotNull, sql } from "drizzle-orm";
import { check, index } from "drizzle-orm/sqlite-core";
import { petFieldNames } from "../../domain/pet.ts";
import * as tables from "../tables.ts";
import { tableOf } from "./columns.ts";

export const categories = tableOf(tables.categories);

export const pets = tableOf(tables.pets, ({ status, id, ...at }) => [
  check("pets_name", sql`instr(${at.name}, char(0)) = 0`),
  // Holds every column of an answer, so that a filtered page is read from the index alone.
  index("pets_by_status")
    .on(status, id, ...petFieldNames.flatMap((field) => (field === "status" ? [] : at[field])))
    .where(isNotNull(status)),
]);
export const removedPets = tableOf(tables.removedPets);
export const changes = tableOf(tables.changes);
export const petEvents = tableOf(tables.petEvents);

export const apiKeys = tableOf(tables.apiKeys);
export const keySecrets = tableOf(tables.keySecrets);
export const keyEvents = tableOf(tables.keyEvents);
export const keyEpoch = tableOf(tables.keyEpoch);
export const idempotencyKeys = tableOf(tables.idempotencyKeys);

export const people = tableOf(tables.people);
export const invitations = tableOf(tables.invitations);
export const sessions = tableOf(tables.sessions);
export const storeState = tableOf(tables.storeState);
