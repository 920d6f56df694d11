import type { Watcher } from "../../../feature.ts";
import type { Config } from "../../../config.ts";
import { systemClock } from "../../../domain/clock.ts";
import type { Parent } from "./parent.ts";
import { SharedAddressLimiter } from "./shared-addresses.ts";

/** What one of several processes does with its supervisor. */
export function watchForParent(config: Config, parent: Parent): Watcher {
  const { ready, stop, takeShared, otherWarns } = parent;
  return {
    started: ready,
    stop,
    otherWarns,
    // Addresses without a key are counted by all processes together.
    addresses: new SharedAddressLimiter(systemClock, config.anonymousPerMinute, takeShared),
    close: async () => undefined,
  };
}
