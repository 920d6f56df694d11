import { Elysia, ValidationError } from "elysia";
import type { Logger } from "../service/log.ts";
import type { Services } from "../service/services.ts";
import { Cors } from "./cors.ts";
import type { MakeRoutes } from "./edge.ts";
import { jsonType, refusal, refusalOf, refuse, respond } from "./errors.ts";
import { admitUnrouted } from "./guard.ts";
import { createHandler, type Handler, type OnResponse } from "./handler.ts";
import { recordOf, type Reachable } from "./record.ts";
import { fallbackRoutes, methodTable, otherResponse } from "./routes/fallback.ts";
import { petRoutes } from "./routes/pets.ts";
import { refusedBy } from "./schemas.ts";

export interface AppOptions extends Reachable {
  readonly services: Services;
  readonly isHttps?: boolean;
  readonly stagingBaseUrl: string | undefined;
  readonly corsOrigins: readonly string[];
  readonly requestIdPrefix?: string;
  readonly log?: Logger;
  readonly onResponse?: readonly OnResponse[];
  readonly routes?: readonly MakeRoutes[];
  /** See `EdgeOptions`. */
  readonly topics?: readonly string[];
  readonly report: (error: unknown) => void;
}

/**
 * The web application behind its handler. docs/architecture.md follows a request through it:
 * handler, router, guard, schemas, operation, and errors.ts for refusals and failures.
 */
export function createService(options: AppOptions): {
  readonly app: App;
  readonly handler: Handler;
} {
  const { baseUrl, corsOrigins, services, trustedProxies } = options;
  const cors = corsOrigins.length === 0 ? undefined : new Cors(corsOrigins);
  const app = createApp(options, cors);
  const handler = createHandler({
    app,
    admit: (request) => admitUnrouted(services, request),
    baseUrl,
    clock: services.clock,
    cors,
    trustedProxies,
    idPrefix: options.requestIdPrefix ?? "request",
    log: options.log,
    onResponse: options.onResponse ?? [],
  });
  return { app, handler };
}

function createApp(options: AppOptions, cors: Cors | undefined) {
  const { baseUrl, report, services, stagingBaseUrl, routes = [], topics = [] } = options;
  const { clock } = services;
  const operations = petRoutes({ cors, services });
  const features = routes.flatMap((make) =>
    make({ baseUrl, stagingBaseUrl, clock, services, topics }),
  );
  const open = new Elysia({ name: "open" });
  for (const part of [probeRoutes(services), ...features]) open.use(part);
  const openMethods = methodTable(open.routes);
  return new Elysia({
    strictPath: true,
    // The router looks for the path from the URL's eighth or twelfth character on. The one fits
    // http://, and the other https:// with all but very short hosts.
    handler: { standardHostname: options.isHttps === true },
  })
    .onTransform({ as: "global" }, ({ request, route }) => {
      recordOf(request).route = route;
    })
    .onError({ as: "global" }, ({ error, code, request }) => {
      // The fallback responds for the addresses under /v1.
      if (code === "NOT_FOUND") return otherResponse(openMethods, request, cors);
      const refused = error instanceof ValidationError ? refusedBy(error) : undefined;
      return refuse(request, refused ?? refusalOf(error, report));
    })
    .use(operations)
    .use(fallbackRoutes({ services, cors }, operations.routes))
    .use(open);
}

/** The probes, without key or limits. `/health`: the process responds. `/ready`: it can work. */
function probeRoutes(services: Pick<Services, "check">) {
  return new Elysia({ name: "probes" })
    .get("/health", ({ request }) => jsonOf(request, { status: "ok" }))
    .get("/ready", async ({ request }) => {
      const checks = await services.check();
      const failed = checks.filter(({ ok }) => !ok);
      if (failed.length === 0) return jsonOf(request, { status: "ready", checks });
      const why = failed.map(({ name, detail }) => `${name}: ${detail}`).join("; ");
      return refuse(request, refusal("unavailable", `Not ready. ${why}.`));
    });
}

const jsonOf = (request: Request, value: unknown) =>
  respond(request, JSON.stringify(value), { headers: { "Content-Type": jsonType } });

export type App = ReturnType<typeof createApp>;
