/** The tables of PostgreSQL, as drizzle-kit takes them: what a module exports. */
import { postgresTables } from "../../src/storage/schema.postgres.ts";

export { catalogue, rehome } from "../../src/storage/schema.postgres.ts";
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
  rateWindows,
  removedPets,
  schedule,
  sessions,
  sources,
  storeState,
  usageDays,
} = postgresTables;
