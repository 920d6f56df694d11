import { Elysia } from "elysia";
import type { Cidr } from "../domain/address.ts";
import type { Services } from "../service/services.ts";
import { Cors } from "./cors.ts";
import { failures } from "./failures.ts";
import { hostCheck } from "./gate.ts";
import { openapi } from "./openapi.ts";
import { PetAnswers } from "./answers.ts";
import { fallbackRoutes } from "./routes/fallback.ts";
import { petRoutes } from "./routes/pets.ts";
import { probeRoutes } from "./routes/probes.ts";

export interface AppOptions {
  readonly services: Services;
  /** The address of /v1 as callers reach it, if the operator named it. */
  readonly baseUrl: string | undefined;
  readonly stagingBaseUrl: string | undefined;
  readonly corsOrigins: readonly string[];
  readonly trustedProxies: readonly Cidr[];
  /** Told of failures that the caller is told nothing of. */
  readonly report: (error: unknown) => void;
}

/**
 * The web application. The life of a request:
 *   1. a Host header that means nothing ends it
 *   2. the router finds the route; under /v1 one is always found
 *   3. the body, if the route takes one, is read up to the limit and left as bytes
 *   4. the gate: credential, limits, headers
 *   5. the body is decoded, and the typed schema checks query, path and body
 *   6. the operation
 *   7. whatever was thrown becomes the Error body
 */
export function createApp(options: AppOptions) {
  const { services } = options;
  const gateOptions = {
    services,
    cors: new Cors(options.corsOrigins),
    trustedProxies: options.trustedProxies,
  };
  const operations = petRoutes({
    ...gateOptions,
    answers: new PetAnswers(services),
    baseUrl: options.baseUrl,
  });
  return new Elysia({
    strictPath: true,
    normalize: false,
    // Else the router takes a path to begin at the URL's twelfth character, whatever stands there.
    handler: { standardHostname: false },
  })
    .use(hostCheck(gateOptions))
    .use(failures(options.report))
    .use(operations)
    .use(fallbackRoutes(gateOptions, operations.routes))
    .use(probeRoutes(services))
    .use(
      openapi({
        baseUrl: options.baseUrl,
        stagingBaseUrl: options.stagingBaseUrl,
        clock: services.clock,
      }),
    );
}

export type App = ReturnType<typeof createApp>;
