import type { Annex } from "../../annex.ts";

/** Animals in and out: other programs' files, and our own. */
export const importAnnex: Annex = {
  name: "import",
  commands: [
    {
      path: "pets import",
      load: async () => (await import("./commands/import.ts")).importCommand,
    },
    {
      path: "pets export",
      load: async () => (await import("./commands/export.ts")).exportCommand,
    },
  ],
};
