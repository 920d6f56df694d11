import { listenAddress, origin, type Setting } from "../../setting-kinds.ts";

export const consoleSetting = {
  ...listenAddress("console", "serve the staff's console there; off if not given"),
  // Of several serving processes one has the console.
  firstOnly: true,
} as const;

/** For the links of invitations, and for the check of the Host header. */
export const consoleUrlSetting: Setting<string | undefined> = {
  flag: "console-url",
  placeholder: "URL",
  description: "address of the console as people reach it, where a proxy stands in front of it",
  default: undefined,
  rule: "must be an address such as https://console.example.org",
  parse: (value) => (value === "*" ? undefined : origin(value.replace(/\/$/, ""))),
};
