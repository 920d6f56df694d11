import type { Feature } from "../../feature.ts";

/** Animals in and out: other programs' files, and our own. */
export const importFeature: Feature = {
  name: "import",
  commands: [
    { path: "pets import", load: async () => (await import("./command.ts")).importCommand },
    { path: "pets export", load: async () => (await import("./export.ts")).exportCommand },
  ],
};
