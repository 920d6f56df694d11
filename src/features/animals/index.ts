import type { Feature } from "../../feature.ts";

/** What people do with animals: find, change, look back and undo; and their categories. */
export const animalsFeature: Feature = {
  name: "animals",
  commands: [
    { path: "pets", load: async () => (await import("./pets/index.ts")).petsCommand },
    {
      path: "categories",
      load: async () => (await import("./categories-command.ts")).categoriesCommand,
    },
    { path: "undo", load: async () => (await import("./undo-command.ts")).undoCommand },
  ],
};
