import { describeAddress, parseDatabaseAddress } from "../../../src/features/postgres/address.ts";
import { openPostgresStore } from "../../../src/features/postgres/store.ts";
import { freshMs } from "../../../src/features/postgres/versions.ts";
import type { FeatureStore } from "../../../test/helpers/feature-store.ts";

/** What the core's tests need of this feature to run on its store too. */
export const postgresStore: FeatureStore = {
  freshMs,
  describe: (url) => describeAddress(parseDatabaseAddress(url)),
  open: (url, { onProblem, ...options }) =>
    openPostgresStore({
      ...options,
      address: parseDatabaseAddress(url),
      systemClock: Date.now,
      onError: (error) => onProblem?.(error),
    }),
};
