import type { AnswerHeaders } from "./headers.ts";

/** What a page on another origin may read beyond the body (Fetch standard, CORS-safelisted response-header names). */
const exposedHeaders = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "Retry-After",
  "Link",
  "Deprecation",
  "Sunset",
  "X-Request-Id",
].join(", ");
const preflightMaxAgeSeconds = 600;

/** Cross-origin access for the origins that the operator named; off where there are none. */
export class Cors {
  readonly #origins: ReadonlySet<string>;

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
  }

  /** Sets the headers that the request's origin may have. Returns true for a preflight. */
  answer(request: Request, headers: AnswerHeaders): boolean {
    if (this.#origins.size === 0) return false;
    headers["vary"] = "Origin";
    const origin = request.headers.get("origin");
    if (origin === null || !(this.#origins.has(origin) || this.#origins.has("*"))) return false;
    headers["access-control-allow-origin"] = origin;
    headers["access-control-expose-headers"] = exposedHeaders;
    const isPreflight =
      request.method === "OPTIONS" && request.headers.has("access-control-request-method");
    if (isPreflight) {
      headers["access-control-allow-methods"] = "GET, HEAD, POST";
      headers["access-control-allow-headers"] = "Authorization, Content-Type, X-Request-Id";
      headers["access-control-max-age"] = preflightMaxAgeSeconds;
    }
    return isPreflight;
  }
}
