import type { Clock } from "../domain/clock.ts";
import type { Services } from "./services.ts";

/** Services without a store, for what is only declared, such as the routes that a document describes. Any use throws. */
export function noServices(clock: Clock): Services {
  return new Proxy({ clock } as Services, {
    get(target, name) {
      if (name === "clock") return target.clock;
      throw new Error(`there is no store, and so no ${String(name)}`);
    },
  });
}
