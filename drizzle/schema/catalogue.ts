/** The tables of `rehome.db`, as drizzle-kit takes them: what a module exports. */
import { sqliteTables } from "../../src/storage/schema.sqlite.ts";

export const {
  apiKeys,
  categories,
  categoryWords,
  changes,
  idempotencyKeys,
  invitations,
  keyEpoch,
  keyEvents,
  keySecrets,
  listEntries,
  people,
  petEvents,
  pets,
  removedPets,
  schedule,
  sessions,
  sources,
  storeState,
} = sqliteTables;
