import { asc, gt, max } from "drizzle-orm";
import { categoryKey, type Category } from "../../domain/category.ts";
import type { CatalogueStore, ExportedPet, ImportStage } from "../../storage/contract.ts";
import type { DatabaseAddress } from "./address.ts";
import type { Query, Runner } from "./connections.ts";
import { beginImport } from "./import-stage.ts";
import { categories, pets } from "./schema.ts";
import { inTransaction } from "./transaction.ts";

/** How long one of an operator's statements may read: a maximum over all animals is no request's. */
const readTimeoutMs = 10 * 60_000;

export interface CatalogueOptions {
  readonly address: DatabaseAddress;
  readonly timeoutMs: number;
  readonly changes: Runner<{ readonly query: Query }>;
  /** Told of each commit that changed animals. */
  readonly onChange: () => void;
}

/** Whole catalogues in and out of PostgreSQL. */
export class PostgresCatalogue implements CatalogueStore {
  readonly #options: CatalogueOptions;

  constructor(options: CatalogueOptions) {
    this.#options = options;
  }

  async exportPage(after: bigint, limit: number): Promise<ExportedPet[]> {
    const rows = await this.#read((query) =>
      query.select().from(pets).where(gt(pets.id, after)).orderBy(asc(pets.id)).limit(limit),
    );
    return rows.map(({ status, externalId, ...pet }) => ({
      ...pet,
      status: status ?? undefined,
      externalId: externalId ?? undefined,
    }));
  }

  categories(): Promise<Category[]> {
    const { id, name } = categories;
    return this.#read((query) => query.select({ id, name }).from(categories).orderBy(asc(id)));
  }

  async highestCategoryId(): Promise<bigint> {
    const [named] = await this.#read((query) =>
      query.select({ id: max(categories.id) }).from(categories),
    );
    const [carried] = await this.#read((query) =>
      query.select({ id: max(pets.categoryId) }).from(pets),
    );
    const highest = [0n, named?.id ?? 0n, carried?.id ?? 0n];
    return highest.reduce((a, b) => (a > b ? a : b));
  }

  async addCategories(added: readonly Category[]): Promise<void> {
    const { changes, timeoutMs } = this.#options;
    await changes.run(({ query }) =>
      inTransaction(query, timeoutMs, async (tx) => {
        for (const { id, name } of added) {
          await tx.insert(categories).values({ id, name, nameKey: categoryKey(name) });
        }
      }),
    );
  }

  beginImport(): Promise<ImportStage> {
    const { address, timeoutMs, onChange } = this.#options;
    return beginImport(address, timeoutMs, onChange);
  }

  #read<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return this.#options.changes.run(({ query }) => work(query), {
      mayRepeat: () => true,
      deadlineMs: performance.now() + readTimeoutMs,
    });
  }
}
