/**
 * The store of the postgres feature, for tests that hold for both stores. It is undefined in a tree
 * without features, where they hold for SQLite alone.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../src/domain/clock.ts";
import type { StoreObserver } from "../../src/service/open-store.ts";
import type { Store } from "../../src/storage/contract.ts";

interface FeatureStoreOptions extends StoreObserver {
  readonly timeoutMs: number;
  readonly clock?: Clock | undefined;
  readonly pollMs?: number;
  readonly onProblem?: ((error: unknown) => void) | undefined;
}

export interface FeatureStore {
  /** How long another process's change may take to bind. */
  readonly freshMs: number;
  /** What the executable calls the database at `url`. */
  describe(url: string): string;
  open(url: string, options: FeatureStoreOptions): Promise<Store>;
}

const file = join(import.meta.dir, "../../test-system/features/postgres/feature-store.ts");

export const featureStore = existsSync(file)
  ? ((await import(file)) as { postgresStore: FeatureStore }).postgresStore
  : undefined;
