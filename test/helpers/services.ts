import { randomBytes } from "../../src/cli/open.ts";
import { KeyService } from "../../src/features/keys/service.ts";
import { UsageService } from "../../src/features/keys/usage.ts";
import { createServices, type ServiceOptions } from "../../src/service/services.ts";
import type { Store } from "../../src/storage/contract.ts";

/** The services on a store, and what the keys feature does with them. */
export type TestServices = ReturnType<typeof servicesOn>;

/** A failure of the services' own fails the test, unless `options` handle it. */
export function servicesOn(store: Store, options: Partial<ServiceOptions> = {}) {
  const services = createServices(store, {
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
  return { ...services, keys: new KeyService(services), usage: new UsageService(services) };
}
