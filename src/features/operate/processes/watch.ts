import type { Watcher } from "../../../feature.ts";
import type { Config } from "../../../config.ts";
import { systemClock } from "../../../domain/clock.ts";
import { TrafficTeller } from "../traffic.ts";
import type { Parent } from "./parent.ts";
import { SharedAddressLimiter } from "./shared-addresses.ts";

/** What one of several processes does with its supervisor. */
export function watchForParent(config: Config, parent: Parent): Watcher {
  const { ready, stop, takeShared, tell, otherWarns } = parent;
  const teller = tell && new TrafficTeller(tell);
  return {
    started: ready,
    stop,
    otherWarns,
    // Addresses without a key are counted by all processes together.
    addresses: new SharedAddressLimiter(systemClock, config.anonymousPerMinute, takeShared),
    ...(teller !== undefined && { requests: teller }),
    close: async () => teller?.tell(),
  };
}
