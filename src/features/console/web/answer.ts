import type { Html } from "../../docs/html.ts";

/** The status codes of pages. */
export const statusOf = {
  ok: 200,
  seeOther: 303,
  invalid: 400,
  signedOut: 401,
  forbidden: 403,
  notFound: 404,
  wrongMethod: 405,
  tooLarge: 413,
  misdirected: 421,
  tooMany: 429,
  failed: 500,
  unavailable: 503,
} as const;
export type StatusName = keyof typeof statusOf;

/** What a page may load and do: its own style, script and forms. Nothing stands inline. */
const policy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types rehome",
].join("; ");

/**
 * On every answer. The referrer goes to this origin only: with `no-referrer` a browser would send
 * its forms with `Origin: null` (Fetch Standard, "append a request Origin header"), and nobody
 * could tell them from a stranger's.
 */
const commonHeaders: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "content-security-policy": policy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

export type Headers = Readonly<Record<string, string>>;

/** A page of HTML. */
export function pageAnswer(body: Html, status: StatusName, headers: Headers): Response {
  return new Response(body.text, {
    status: statusOf[status],
    headers: { ...commonHeaders, "content-type": "text/html; charset=utf-8", ...headers },
  });
}

/** Leads a browser on to `path` with GET, whatever it did before. */
export function redirect(path: string, headers: Headers = {}): Response {
  return new Response(null, {
    status: statusOf.seeOther,
    headers: { ...commonHeaders, location: path, ...headers },
  });
}

/** A file to keep. Its name holds letters, digits, points and hyphens only. */
export function download(
  body: ConstructorParameters<typeof Response>[0],
  name: string,
  type: string,
): Response {
  return new Response(body, {
    headers: {
      ...commonHeaders,
      "content-type": type,
      "content-disposition": `attachment; filename="${name}"`,
    },
  });
}

/** A file of the program itself, whose path changes with its bytes. */
export function asset(text: string, type: string): Response {
  return new Response(text, {
    headers: {
      ...commonHeaders,
      "content-type": type,
      "cache-control": "public, max-age=31536000, immutable",
    },
  });
}
