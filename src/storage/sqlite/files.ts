import { join } from "node:path";
import { readMigrations } from "../migrations.macro.ts" with { type: "macro" };

export const catalogueMigrations = readMigrations("sqlite/catalogue");
export const limitsMigrations = readMigrations("sqlite/limits");

/** The migrations of each file of a data folder. */
export const migrationsOf = { catalogue: catalogueMigrations, limits: limitsMigrations };

/** In place of a data folder: a store that ends with the process. */
export const inMemory = ":memory:";

/** The files of a data folder. */
export function storeFiles(folder: string) {
  return {
    catalogue: folder === inMemory ? folder : join(folder, "rehome.db"),
    limits: folder === inMemory ? folder : join(folder, "limits.db"),
  };
}
