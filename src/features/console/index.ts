import { origin, type Setting } from "../../config.ts";
import type { Feature } from "../../feature.ts";
import { listenAddress } from "../operate/settings.ts";

export const defaultAddress = "127.0.0.1:8090";

export const consoleSetting = {
  ...listenAddress("console", "serve the staff's console at this address; off by default"),
  // Of several serving processes one has the console.
  firstOnly: true,
} as const;

/** For the links of invitations, and for the check of the Host header. */
export const consoleUrlSetting: Setting<string | undefined> = {
  flag: "console-url",
  placeholder: "URL",
  description: "public address of the console, if it is behind a proxy",
  default: undefined,
  rule: "must be an address such as https://console.example.org",
  parse: (value) => (value === "*" ? undefined : origin(value.replace(/\/$/, ""))),
};

/** Set in the environment of a console that the service started: it ends with its input. */
export const besideVariable = "CONSOLE_BESIDE_SERVICE";

export function inviting(link: string): string[] {
  const why = "Nobody may use the console yet. Your own link works once, within 7 days:";
  return ["", why, `  ${link}`, ""];
}

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
