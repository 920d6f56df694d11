import { origin, type Setting } from "../../config.ts";
import { listenAddress } from "../listen-address.ts";

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
