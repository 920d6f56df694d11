import type { Clock } from "../../src/domain/clock.ts";
import { describeAddress, parseDatabaseAddress } from "../../src/features/postgres/address.ts";
import { openPostgresStore } from "../../src/features/postgres/store.ts";
import { freshMs } from "../../src/features/postgres/versions.ts";
import type { StoreObserver } from "../../src/cli/open.ts";

interface Options extends StoreObserver {
  readonly timeoutMs: number;
  readonly clock?: Clock | undefined;
  readonly pollMs?: number;
  readonly onProblem?: ((error: unknown) => void) | undefined;
}

/** The store of the postgres feature, for tests that hold for both stores. */
export const postgresStore = {
  /** How long another process's change may take to bind. */
  freshMs,
  /** What the executable calls the database at `url`. */
  describe: (url: string) => describeAddress(parseDatabaseAddress(url)),
  open: (url: string, { onProblem, ...options }: Options) =>
    openPostgresStore({
      ...options,
      address: parseDatabaseAddress(url),
      systemClock: Date.now,
      onError: (error) => onProblem?.(error),
    }),
};
