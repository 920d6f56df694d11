import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApiKey } from "../../src/domain/api-key.ts";
import type { PlanName } from "../../src/domain/plan.ts";
import type { Admission } from "../../src/service/admission.ts";
import type { ServiceOptions } from "../../src/service/services.ts";
import type { Store } from "../../src/storage/contract.ts";
import { seededBytes, type TestClock } from "./app.ts";
import { servicesOn, type TestServices } from "./services.ts";
import {
  closeAfterTest,
  openTestStore,
  recycleDatabaseOf,
  type TestStoreOptions,
} from "./store-under-test.ts";

type Reserve = Store["windows"]["reserve"];

type StackOptions = Omit<TestStoreOptions, "clock"> &
  Partial<Omit<ServiceOptions, "clock">> & {
    /** Wraps the store's takes. */
    readonly reserve?: (reserve: Reserve) => Reserve;
    /** The clock that is read inside of transactions. */
    readonly storeClock?: () => number;
  };

/** A process without the web: the services on a data folder. */
export class Stack {
  private constructor(
    readonly clock: TestClock,
    readonly store: Store,
    readonly services: TestServices,
    readonly reported: unknown[],
  ) {}

  static async open(
    clock: TestClock,
    { reserve, storeClock = clock.read, ...options }: StackOptions = {},
  ): Promise<Stack> {
    const store = await openTestStore({ clock: storeClock, ...options });
    if (reserve !== undefined) {
      const { windows } = store;
      Object.assign(store, { windows: { ...windows, reserve: reserve(windows.reserve) } });
    }
    const reported: unknown[] = [];
    const services = servicesOn(store, {
      clock: clock.read,
      randomBytes: seededBytes(nextSeed++),
      onError: (error) => reported.push(error),
      ...options,
    });
    closeAfterTest(store, () => services.close());
    return new Stack(clock, store, services, reported);
  }

  async key(
    plan: PlanName,
    numbers: { perMinute?: number; perDay?: number } = {},
  ): Promise<{ key: ApiKey; secret: string }> {
    return this.services.keys.create({ name: `key ${nextSeed++}`, plan, ...numbers });
  }

  /** One request with a credential. */
  async request(secret: string, address = "192.0.2.1"): Promise<Admission> {
    return this.services.access.admit(secret, () => address);
  }

  /** Requests that arrive together. */
  async requests(secret: string, count: number): Promise<Admission[]> {
    return Promise.all(Array.from({ length: count }, () => this.request(secret)));
  }

  /** How many of `count` requests that arrive together are admitted. */
  async admitted(secret: string, count: number): Promise<number> {
    return countAdmitted(await this.requests(secret, count));
  }

  /** Ends the process as `kill -9` does: nothing is given back. */
  async kill(): Promise<void> {
    await this.store.close();
  }
}

let nextSeed = 1;

export function countAdmitted(admissions: readonly Admission[]): number {
  return admissions.filter(({ refusal }) => refusal === undefined).length;
}

/** A data folder that several stacks share, removed with them at the end. */
export class SharedFolder implements AsyncDisposable {
  readonly path = mkdtempSync(join(tmpdir(), "rehome-limits-"));
  readonly #stacks: Stack[] = [];

  constructor(readonly clock: TestClock) {}

  async stack(options: StackOptions = {}): Promise<Stack> {
    const stack = await Stack.open(this.clock, { folder: this.path, ...options });
    this.#stacks.push(stack);
    return stack;
  }

  /** A clean stop. */
  async stop(stack: Stack): Promise<void> {
    this.#stacks.splice(this.#stacks.indexOf(stack), 1);
    await stack.services.close();
  }

  async kill(stack: Stack): Promise<void> {
    this.#stacks.splice(this.#stacks.indexOf(stack), 1);
    await stack.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stack of this.#stacks) await stack.services.close();
    await recycleDatabaseOf(this.path);
    rmSync(this.path, { recursive: true, force: true });
  }
}
