import { type AnyElysia, Elysia, ValidationError } from "elysia";
import type { Cidr } from "../domain/address.ts";
import type { Clock } from "../domain/clock.ts";
import type { Logger } from "../service/log.ts";
import type { Services } from "../service/services.ts";
import { contextOf, versionSegment } from "./context.ts";
import { Cors, methodTable, otherResponse } from "./methods.ts";
import { jsonType, refusal, refusalOf, refuse, respond } from "./errors.ts";
import { guard } from "./guard.ts";
import { createHandler, type OnResponse } from "./handler.ts";
import { isGetPetRemoved, petOperations, petRoutes } from "./pets.ts";
import { refusedBy } from "./schemas.ts";

export interface RoutesOptions {
  /** The address of /v1 as callers reach it; by default the one that a request came to. */
  readonly baseUrl: string | undefined;
  readonly stagingBaseUrl: string | undefined;
  readonly clock: Clock;
  readonly services: Services;
  /** What the documentation page says of other routes, each in CommonMark below a heading. */
  readonly topics?: readonly string[];
}

export type MakeRoutes = (options: RoutesOptions) => readonly AnyElysia[];

/** Routes outside of `/v1`, and the pages among them that a start tells a person of. */
export interface FeatureRoutes {
  readonly pages: readonly { readonly title: string; readonly path: string }[];
  /** What the documentation page says of them: CommonMark that begins with `## Title`. */
  readonly topic?: string;
  /** Loads them with the web framework, which no command but `serve` needs. */
  readonly load: () => Promise<MakeRoutes>;
}

export interface AppOptions extends Omit<RoutesOptions, "clock"> {
  readonly trustedProxies: readonly Cidr[];
  readonly isHttps?: boolean;
  readonly corsOrigins: readonly string[];
  /** What distinguishes this process's request ids from another's. */
  readonly requestIdPrefix?: string;
  readonly log?: Logger;
  readonly onResponse?: readonly OnResponse[];
  readonly routes?: readonly MakeRoutes[];
  readonly report: (error: unknown) => void;
}

/**
 * The web application behind its handler. docs/architecture.md follows a request through it:
 * handler, guard, router, schemas, operation, and errors.ts for refusals and failures.
 */
export function createService(options: AppOptions) {
  const { corsOrigins } = options;
  const cors = corsOrigins.length === 0 ? undefined : new Cors(corsOrigins);
  const app = createApp(options, cors);
  return { app, handler: createHandler(app, cors, options) };
}

function createApp(options: AppOptions, cors: Cors | undefined) {
  const { report, services, routes = [] } = options;
  const { clock } = services;
  const pets = petOperations(services);
  const operations = new Elysia({ prefix: versionSegment }).use(petRoutes(() => pets));
  const open = new Elysia({ name: "open" })
    .onTransform(({ request, route }) => {
      contextOf(request).route = route;
    })
    .use(probeRoutes(services));
  for (const part of routes.flatMap((make) => make({ ...options, clock }))) open.use(part);
  const declared = [...operations.routes, ...open.routes];
  const methodsOf = methodTable(declared);
  return new Elysia({
    strictPath: true,
    // The router looks for the path from the URL's eighth or twelfth character on. The one fits
    // http://, and the other https:// with all but very short hosts.
    handler: { standardHostname: options.isHttps === true },
  })
    .onRequest(guard(services, cors))
    .onError({ as: "global" }, ({ code, error, path, request, route, set }) => {
      // Elysia would make the response anew with a status of its own.
      set.status = 200;
      if (code === "NOT_FOUND") {
        const isRemoved = path.startsWith(`${versionSegment}/pets/`) && isGetPetRemoved(clock());
        return otherResponse(request, path, isRemoved ? undefined : methodsOf(path), cors);
      }
      contextOf(request).route = route;
      const cause = code === "PARSE" ? error.cause : error;
      const refused = cause instanceof ValidationError ? refusedBy(cause) : undefined;
      return refuse(request, refused ?? refusalOf(cause, report));
    })
    .use(open)
    .use(operations);
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
