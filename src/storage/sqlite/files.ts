import { join } from "node:path";
import { migrationsIn } from "../../../scripts/migrations.ts" with { type: "macro" };

export const migrationsOf = {
  catalogue: migrationsIn("catalogue"),
  limits: migrationsIn("limits"),
};

/** In place of a data folder: a store that ends with the process. */
export const inMemory = ":memory:";

export function storeFiles(folder: string) {
  return {
    catalogue: folder === inMemory ? folder : join(folder, "rehome.db"),
    limits: folder === inMemory ? folder : join(folder, "limits.db"),
  };
}
