import { join } from "node:path";
import { readMigrations } from "../migrations.macro.ts" with { type: "macro" };

/**
 * The migrations of each file of a data folder. Bun copies a macro's result to each use of a
 * constant, so this is the only one.
 */
export const migrationsOf = {
  catalogue: readMigrations("sqlite/catalogue"),
  limits: readMigrations("sqlite/limits"),
};

/** In place of a data folder: a store that ends with the process. */
export const inMemory = ":memory:";

/** The files of a data folder. */
export function storeFiles(folder: string) {
  return {
    catalogue: folder === inMemory ? folder : join(folder, "rehome.db"),
    limits: folder === inMemory ? folder : join(folder, "limits.db"),
  };
}
