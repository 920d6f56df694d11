import { describeAddress, parseDatabaseAddress } from "../../../src/annexes/postgres/address.ts";
import { openPostgresStore } from "../../../src/annexes/postgres/store.ts";
import { freshMs } from "../../../src/annexes/postgres/versions.ts";
import type { AnnexStore } from "../../helpers/annex-store.ts";

/** What the kernel's tests need of this annex to run on its store too. */
export const postgresStore: AnnexStore = {
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
