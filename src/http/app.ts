import { Elysia } from "elysia";
import type { Cidr } from "../domain/address.ts";
import type { Logger } from "../service/log/logger.ts";
import type { Services } from "../service/services.ts";
import { Cors } from "./cors.ts";
import { failures } from "./failures.ts";
import { hostCheck } from "./host-check.ts";
import { packHeaders } from "./headers.ts";
import { observe, type RequestObserver } from "./observe.ts";
import { methodTable } from "./methods.ts";
import type { Peers } from "./record.ts";
import { ownQuery } from "./query.ts";
import { PetAnswers } from "./answers.ts";
import { fallbackRoutes } from "./routes/fallback.ts";
import type { AnnexRoutes } from "./annex-routes.ts";
import { petRoutes } from "./routes/pets.ts";
import { probeRoutes } from "./routes/probes.ts";

export interface AppOptions {
  readonly services: Services;
  /** The address of /v1 as callers reach it, if the operator named it. */
  readonly baseUrl: string | undefined;
  /** True when the server speaks TLS itself. */
  readonly isHttps?: boolean;
  readonly stagingBaseUrl: string | undefined;
  readonly corsOrigins: readonly string[];
  readonly trustedProxies: readonly Cidr[];
  /** What the ids of this process's requests begin with. */
  readonly requestIdPrefix?: string;
  /** Where each request leaves a line. */
  readonly log?: Logger;
  /** What counts the requests. */
  readonly observers?: readonly RequestObserver[];
  /** Routes outside of `/v1` beside the probes. */
  readonly routes?: readonly AnnexRoutes[];
  /** Told of failures that the caller is told nothing of. */
  readonly report: (error: unknown) => void;
}

/**
 * The web application. The life of a request:
 *   1. it gets an id and a record of what becomes of it
 *   2. a Host header that means nothing ends it
 *   3. the router finds the route; under /v1 one is always found
 *   4. the body, if the route takes one, is read up to the limit and left as bytes
 *   5. the gate: credential, limits, headers
 *   6. the body is decoded, and the typed schema checks query, path and body
 *   7. the operation
 *   8. whatever was thrown becomes the Error body
 *   9. the answer carries the id, and the record goes to the log
 */
export function createApp(options: AppOptions) {
  const { services } = options;
  const gateOptions = { services, cors: new Cors(options.corsOrigins) };
  const operations = petRoutes({
    ...gateOptions,
    answers: new PetAnswers(services),
    baseUrl: options.baseUrl,
  });
  const { baseUrl, stagingBaseUrl, routes = [] } = options;
  const edge = { baseUrl, stagingBaseUrl, clock: services.clock };
  const probes = probeRoutes(services);
  const others = routes.flatMap(({ make }) => make(edge));
  const openRoutes = [probes, ...others].flatMap((each) => each.routes);
  let server: () => Peers | null = () => null;
  const app = new Elysia({
    strictPath: true,
    normalize: false,
    // The router looks for the path's slash from the URL's eighth character on, or from its twelfth: what is right for
    // http:// finds a slash of https://, and what is right for that passes over the one behind a very short host.
    handler: { standardHostname: options.isHttps === true },
  })
    .use(
      observe({
        clock: services.clock,
        peers: () => server(),
        trustedProxies: options.trustedProxies,
        idPrefix: options.requestIdPrefix ?? "request",
        log: options.log,
        observers: options.observers ?? [],
      }),
    )
    .use(packHeaders())
    .use(hostCheck(services))
    .use(ownQuery())
    .use(failures(options.report, methodTable(openRoutes)))
    .use(operations)
    .use(fallbackRoutes(gateOptions, operations.routes))
    .use(probes);
  for (const each of others) app.use(each);
  server = () => app.server;
  return app;
}

export type App = ReturnType<typeof createApp>;
