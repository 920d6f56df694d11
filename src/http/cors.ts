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
