import { expect } from "bun:test";
import { randomBytes } from "../../src/cli/open.ts";
import { createServices, type Services } from "../../src/service/services.ts";
import type { Store } from "../../src/storage/contract.ts";

/** The services of a console on a store. A failure of their own fails the test. */
export function servicesOn(store: Store): Services {
  return createServices(store, {
    environment: "production",
    clock: Date.now,
    randomBytes,
    actor: "tester",
    anonymousPerMinute: 300,
    bans: true,
    onError: (error) => expect(error).toBeUndefined(),
  });
}
