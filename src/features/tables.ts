import type { Table } from "../storage/declare.ts";
import {
  apiKeys,
  idempotencyKeys,
  keyEpoch,
  keyEvents,
  keySecrets,
  pets,
  storeState,
} from "../storage/tables.ts";
import { categories, changes, petEvents, removedPets } from "./animals/tables.ts";
import { invitations, people, sessions } from "./console/tables.ts";

/** The tables of `rehome.db`: what must never be lost. Each refers only to those before it. */
export const catalogueTables: readonly Table[] = [
  categories,
  apiKeys,
  keySecrets,
  keyEvents,
  keyEpoch,
  people,
  invitations,
  sessions,
  storeState,
  changes,
  petEvents,
  removedPets,
  idempotencyKeys,
  pets,
];
