import type { Feature, JobCommand } from "../../feature.ts";
import { oneOf } from "../../config.ts";

export const pullPrivateSetting = oneOf(
  "pull-private",
  "let followed lists be on private addresses, by http too",
  ["on", "off"],
  "off",
);

export const pullCommand: JobCommand = {
  kind: "pull",
  words: (name) => ["sources", "pull", "--scheduled", "--", name],
};

export const sourcesFeature: Feature = {
  name: "sources",
  settings: [pullPrivateSetting],
  commands: [{ path: "sources", load: async () => (await import("./commands.ts")).sourcesCommand }],
  jobs: () => [pullCommand],
};
