import { join } from "node:path";

export { migrationsOf } from "./migrations.ts";

/** In place of a data folder: a store that ends with the process. */
export const inMemory = ":memory:";

export function storeFiles(folder: string) {
  return {
    catalogue: folder === inMemory ? folder : join(folder, "rehome.db"),
    limits: folder === inMemory ? folder : join(folder, "limits.db"),
  };
}
