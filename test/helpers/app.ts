import { featureSettings } from "../../src/cli/command.ts";
import { loadConfig } from "../../src/config.ts";
import { features } from "../../src/features/index.ts";
import type { ApiKey } from "../../src/domain/api-key.ts";
import { noBan } from "../../src/domain/ban.ts";
import { publishedLimits, type PlanName } from "../../src/domain/plan.ts";
import { createService, type AppOptions } from "../../src/http/app.ts";
import type { ServiceOptions } from "../../src/service/services.ts";
import { random as randomOf } from "../../scripts/random.ts";
import { Stack } from "./stack.ts";

/** A clock that stands still until it is moved. */
export class TestClock {
  nowMs: number;

  constructor(nowMs = Date.UTC(2026, 10, 21, 12, 0, 10)) {
    this.nowMs = nowMs;
  }

  readonly read = (): number => this.nowMs;

  advance(ms: number): void {
    this.nowMs += ms;
  }
}

/** Bytes that look random and are the same in every run. */
export function seededBytes(seed = 1): (count: number) => Uint8Array {
  const random = randomOf(seed);
  return (count) => Uint8Array.from({ length: count }, () => Math.floor(random() * 256));
}

/** A key of the plan Pro, with all that is known of one, but for `changes`. */
export const someKey = (changes: Partial<ApiKey> = {}): ApiKey => ({
  id: "key_1",
  name: "a key",
  plan: "pro",
  limits: publishedLimits.pro,
  readOnly: false,
  createdAtMs: 0,
  expiresAtMs: undefined,
  revokedAtMs: undefined,
  ban: noBan,
  ...changes,
});

/** What a server knows of a connection from `address`. */
export const peerAt = (address: string) => ({
  requestIP: () => ({ address }),
  timeout: () => undefined,
});

export interface TestAppOptions {
  readonly clock?: TestClock;
  /** Settings of features, by their flags. */
  readonly flags?: Readonly<Record<string, string>>;
  readonly app?: Partial<AppOptions>;
  readonly service?: Partial<ServiceOptions>;
}

export type TestApp = Awaited<ReturnType<typeof testApp>>;

/** The whole application on a store in memory, called without a socket. */
export async function testApp({
  clock = new TestClock(),
  flags = {},
  app = {},
  service = {},
}: TestAppOptions = {}) {
  const { valueOf } = loadConfig(flags, {}, featureSettings(features));
  const stack = await Stack.open(clock, { serving: true, ...service });
  const { reported, services, store } = stack;
  const ofFeatures = features.flatMap(({ routes }) => routes?.(valueOf) ?? []);
  const { app: inside, handler } = createService({
    services,
    baseUrl: undefined,
    stagingBaseUrl: undefined,
    corsOrigins: [],
    trustedProxies: [],
    routes: await Promise.all(ofFeatures.map((each) => each.load())),
    topics: ofFeatures.flatMap(({ topic }) => topic ?? []),
    report: (error) => reported.push(error),
    ...app,
  });
  const handle = async (request: Request) => handler(request);
  return {
    clock,
    /** The application as its handler shows it, and the routes inside. */
    elysia: { routes: inside.routes, handle },
    handler,
    reported,
    services,
    store,
    /** Sends a request; `key` goes into the Authorization header. */
    send(path: string, init: RequestInit & { key?: string | undefined } = {}): Promise<Response> {
      const headers = new Headers(init.headers);
      if (init.key !== undefined) headers.set("authorization", `Bearer ${init.key}`);
      return handle(new Request(`http://localhost${path}`, { ...init, headers }));
    },
    async key(plan: PlanName = "business", numbers = {}): Promise<string> {
      return (await stack.key(plan, numbers)).secret;
    },
  };
}
