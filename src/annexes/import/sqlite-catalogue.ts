import type { Database } from "bun:sqlite";
import { asc, gt, max, sql } from "drizzle-orm";
import { categoryKey, type Category } from "../../domain/category.ts";
import type { CatalogueStore, ExportedPet } from "../../storage/contract.ts";
import { query, translated } from "../../storage/sqlite/database.ts";
import { beginImport } from "./sqlite-stage.ts";
import { categories, pets } from "../../storage/sqlite/schema.ts";

/** Whole catalogues in and out of SQLite. `onChange` is called after animals were taken over. */
export function catalogueStore(db: Database, onChange: () => void): CatalogueStore {
  const orm = query(db);
  const preparePage = () =>
    orm
      .select()
      .from(pets)
      .where(gt(pets.id, sql.placeholder("after")))
      .orderBy(asc(pets.id))
      .limit(sql.placeholder("limit"))
      .prepare();
  // Prepared by the first export: a server has none.
  let page: ReturnType<typeof preparePage> | undefined;

  return {
    exportPage: (after, limit) => (page ??= preparePage()).all({ after, limit }).map(exportedPet),
    categories: () =>
      orm
        .select({ id: categories.id, name: categories.name })
        .from(categories)
        .orderBy(asc(categories.id))
        .all(),
    highestCategoryId() {
      const named =
        orm
          .select({ id: max(categories.id) })
          .from(categories)
          .get()?.id ?? 0n;
      const carried =
        orm
          .select({ id: max(pets.categoryId) })
          .from(pets)
          .get()?.id ?? 0n;
      const higher = named > carried ? named : carried;
      return higher > 0n ? higher : 0n;
    },
    addCategories(added: readonly Category[]) {
      const insert = db.transaction(() => {
        for (const { id, name } of added) {
          orm
            .insert(categories)
            .values({ id, name, nameKey: categoryKey(name) })
            .run();
        }
      });
      insert.immediate();
    },
    beginImport: () => translated(beginImport(db, onChange)),
  };
}

function exportedPet(row: typeof pets.$inferSelect): ExportedPet {
  const { id, name, categoryId, status, externalId } = row;
  return {
    id,
    name,
    categoryId,
    status: status ?? undefined,
    externalId: externalId ?? undefined,
  };
}
