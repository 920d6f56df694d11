import type { Feature } from "../../feature.ts";
import { pullPrivateSetting } from "./setting.ts";

/** Lists that other programs publish, imported by the schedule. */
export const sourcesFeature: Feature = {
  name: "sources",
  settings: [pullPrivateSetting],
  commands: [{ path: "sources", load: async () => (await import("./commands.ts")).sourcesCommand }],
  jobs: [{ kind: "pull", words: (name) => ["sources", "pull", "--scheduled", "--", name] }],
};
