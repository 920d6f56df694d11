/** The tables of `rehome.db`, as drizzle-kit takes them: what a module exports. */
export {
  apiKeys,
  categories,
  changes,
  idempotencyKeys,
  invitations,
  keyEpoch,
  keyEvents,
  keySecrets,
  people,
  petEvents,
  pets,
  removedPets,
  schedule,
  sessions,
  sources,
  storeState,
} from "../../src/storage/schema.sqlite.ts";
