import { type LoadedConfig, oneOf } from "../../config.ts";
import type { Services } from "../../service/services.ts";
import type { Pulling } from "./pull.ts";

export const pullPrivateSetting = oneOf(
  "pull-private",
  "let followed lists be on private addresses, by http too",
  ["on", "off"],
  "off",
);

/** How this process pulls lists, until `signal`. */
export function pullingOf(
  signal: AbortSignal,
  { store, clock }: Services,
  loaded: LoadedConfig,
): Pulling {
  return {
    db: store.db,
    clock,
    random: () => (crypto.getRandomValues(new Uint8Array(1))[0] ?? 0) / 255,
    allowPrivate: loaded.valueOf(pullPrivateSetting) === "on",
    signal,
  };
}
