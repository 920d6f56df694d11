import { Elysia, ValidationError, type AnyElysia } from "elysia";
import type { Cidr } from "../domain/address.ts";
import type { Logger } from "../service/log/logger.ts";
import type { Services } from "../service/services.ts";
import { Cors } from "./cors.ts";
import { createHandler, recordOf, type Handler, type RequestObserver } from "./handler.ts";
import type { MakeRoutes } from "./edge.ts";
import { refusalOf, refuse } from "./errors.ts";
import { admitUnrouted } from "./guard.ts";
import { answerOtherMethod, methodTable } from "./methods.ts";
import { fallbackRoutes } from "./routes/fallback.ts";
import { petRoutes } from "./routes/pets.ts";
import { probeRoutes } from "./routes/probes.ts";
import { refusedBy } from "./schemas.ts";

export interface AppOptions {
  readonly services: Services;
  /** The public address of /v1, if the operator set it. */
  readonly baseUrl: string | undefined;
  /** True when the server speaks TLS itself. */
  readonly isHttps?: boolean;
  readonly stagingBaseUrl: string | undefined;
  readonly corsOrigins: readonly string[];
  readonly trustedProxies: readonly Cidr[];
  readonly requestIdPrefix?: string;
  /** Where each request leaves a line. */
  readonly log?: Logger;
  /** What counts the requests. */
  readonly observers?: readonly RequestObserver[];
  /** Routes outside of `/v1` beside the probes. */
  readonly routes?: readonly MakeRoutes[];
  /** Called with failures that the caller is told nothing of. */
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
  const { corsOrigins, services } = options;
  const cors = corsOrigins.length === 0 ? undefined : new Cors(corsOrigins);
  const app = createApp(options, cors);
  const handler = createHandler({
    app,
    admit: (request, record) => admitUnrouted(services, request, record),
    clock: services.clock,
    cors,
    trustedProxies: options.trustedProxies,
    idPrefix: options.requestIdPrefix ?? "request",
    log: options.log,
    observers: options.observers ?? [],
  });
  return { app, handler };
}

function createApp(options: AppOptions, cors: Cors | undefined) {
  const { baseUrl, report, services, stagingBaseUrl, routes = [] } = options;
  const { clock } = services;
  const operations = petRoutes({ baseUrl, cors, services });
  const features = routes.flatMap((make) => make({ baseUrl, stagingBaseUrl, clock, services }));
  const open = openRoutes([probeRoutes(services), ...features]);
  const openMethods = methodTable(open.routes);
  return new Elysia({
    strictPath: true,
    // The router looks for the path from the URL's eighth or twelfth character on. The one fits
    // http://, and the other https:// with all but very short hosts.
    handler: { standardHostname: options.isHttps === true },
  })
    .onError({ as: "global" }, ({ error, code, request, route }) => {
      const record = recordOf(request);
      record.route ??= route || undefined;
      // The fallback responds for the addresses under /v1.
      if (code === "NOT_FOUND") return answerOtherMethod(openMethods, request, cors);
      const refused = error instanceof ValidationError ? refusedBy(error) : undefined;
      return refuse(record, refused ?? refusalOf(error, report));
    })
    .use(operations)
    .use(fallbackRoutes({ services, cors }, operations.routes))
    .use(open);
}

export type App = ReturnType<typeof createApp>;

/** Routes outside of /v1, which no guard stands before. */
function openRoutes(parts: readonly AnyElysia[]) {
  const open = new Elysia({ name: "open" }).onAfterHandle(({ request, responseValue, route }) => {
    const record = recordOf(request);
    record.route = route;
    if (typeof responseValue === "string") record.bytes = Buffer.byteLength(responseValue);
  });
  for (const part of parts) open.use(part);
  return open;
}
