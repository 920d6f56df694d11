import { isVersioned } from "./context.ts";
import { otherMethod, refusal, refuse, respond } from "./errors.ts";

/** What a page on another origin may read (Fetch standard, CORS-safelisted response headers). */
const exposedHeaders =
  "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Link, Location, " +
  "Deprecation, Sunset, Idempotent-Replayed, X-Request-Id";
/** The headers that a page may send: ours, and tracing libraries' (W3C Trace Context, Sentry). */
const allowedHeaders =
  "Authorization, Content-Type, Idempotency-Key, X-Request-Id, " +
  "traceparent, tracestate, baggage, sentry-trace";
const preflightMaxAgeSeconds = 600;

export class Cors {
  readonly #origins: ReadonlySet<string>;

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
  }

  /** True for a browser's preflight from an allowed origin (Fetch standard, section 4.8). */
  isPreflight({ headers, method }: Request): boolean {
    return (
      method === "OPTIONS" &&
      headers.has("access-control-request-method") &&
      this.#allows(headers.get("origin"))
    );
  }

  /** Adds the CORS headers for the request's origin. `Allow` has the methods of the address. */
  show(request: Request, headers: Headers): void {
    headers.append("Vary", "Origin");
    const origin = request.headers.get("origin");
    if (!this.#allows(origin)) return;
    headers.set("Access-Control-Allow-Origin", origin);
    headers.set("Access-Control-Expose-Headers", exposedHeaders);
    if (!this.isPreflight(request)) return;
    const methods = headers.get("Allow")?.replace(", OPTIONS", "");
    if (methods !== undefined) headers.set("Access-Control-Allow-Methods", methods);
    headers.set("Access-Control-Allow-Headers", allowedHeaders);
    headers.set("Access-Control-Max-Age", `${preflightMaxAgeSeconds}`);
  }

  #allows(origin: string | null): origin is string {
    return origin !== null && (this.#origins.has(origin) || this.#origins.has("*"));
  }
}

/**
 * Looks up the methods of a path, as `Allow` lists them; undefined if there is nothing. It is the
 * one place that knows which methods an address has.
 */
export function methodTable(routes: readonly { readonly method: string; readonly path: string }[]) {
  const table = new Map<string, Set<string>>();
  for (const { method, path } of routes) {
    const methods = table.getOrInsertComputed(path, () => new Set());
    methods.add(method);
    if (method === "GET") methods.add("HEAD");
  }
  const templates = [...table].map(([path, methods]) => ({
    pattern: new RegExp(`^${path.split(/:\w+/).map(RegExp.escape).join("[^/]+")}$`),
    methods: [...methods, "OPTIONS"].join(", "),
  }));
  return (path: string) => templates.find(({ pattern }) => pattern.test(path))?.methods;
}

const nothingHere = refusal("not_found", "There is nothing at this address.");
const noOperation = refusal(
  "not_found",
  "There is nothing at this address. Paths are exact: /v1/pets, /v1/pets/{petId}.",
);

/**
 * The response of an address without a route for the method: 204 to OPTIONS, 405 to other methods,
 * both with `Allow`; 404 if the address does not exist. A preflight gets 204 there too: otherwise
 * the browser would not send the request, and its page could not read the 404.
 */
export function otherResponse(
  request: Request,
  path: string,
  allowed: string | undefined,
  cors: Cors | undefined,
): Response {
  const headers: Record<string, string> = allowed === undefined ? {} : { Allow: allowed };
  const isThere = allowed !== undefined || cors?.isPreflight(request) === true;
  if (request.method === "OPTIONS" && isThere) {
    return respond(request, "", { status: 204, headers });
  }
  if (allowed === undefined) return refuse(request, isVersioned(path) ? noOperation : nothingHere);
  return refuse(request, otherMethod(request.method, allowed), headers);
}
