import type { Feature } from "../../feature.ts";

export const keysFeature: Feature = {
  name: "keys",
  commands: [{ path: "keys", load: async () => (await import("./commands.ts")).keysCommand }],
};
