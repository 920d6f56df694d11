import { randomBytes } from "../../src/cli/open.ts";
import { createServices, type ServiceOptions, type Services } from "../../src/service/services.ts";
import type { Store } from "../../src/storage/contract.ts";

/** The services on a store. A failure of their own fails the test, unless `options` handle it. */
export function servicesOn(store: Store, options: Partial<ServiceOptions> = {}): Services {
  return createServices(store, {
    environment: "production",
    clock: Date.now,
    randomBytes,
    actor: "tester",
    anonymousPerMinute: 300,
    bans: true,
    onError(error) {
      throw error;
    },
    ...options,
  });
}
