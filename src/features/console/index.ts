import type { Feature } from "../../feature.ts";
import { consoleSetting, consoleUrlSetting } from "./settings.ts";

export const consoleFeature: Feature = {
  name: "console",
  settings: [consoleSetting, consoleUrlSetting],
  commands: [
    { path: "console", load: async () => (await import("./run.ts")).consoleCommand },
    {
      path: "__import",
      load: async () => (await import("./import-work.ts")).importCommand,
      hidden: true,
    },
    { path: "people", load: async () => (await import("./people-command.ts")).peopleCommand },
  ],
  async hooks({ loaded, log, io }) {
    const address = loaded.valueOf(consoleSetting);
    if (address === undefined) return undefined;
    const { watchWithConsole } = await import("./watch.ts");
    return watchWithConsole(loaded, address, log, io);
  },
};
