import type { Feature } from "../../feature.ts";
import { gone } from "../gone.ts";

export const animalsFeature: Feature = {
  name: "animals",
  commands: [
    { path: "pets", load: async () => (await import("./commands/pets.ts")).petsCommand },
    {
      path: "categories",
      load: async () => (await import("./commands/categories.ts")).categoriesCommand,
    },
    gone("pets set-status", "rehome pets update ID --status STATUS"),
    { path: "undo", load: async () => (await import("./undo.ts")).undoCommand },
  ],
};
