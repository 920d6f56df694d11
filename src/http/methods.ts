import type { Cors } from "./cors.ts";
import { recordOf } from "./handler.ts";
import { errorAnswer, nothingHere, otherMethod } from "./errors.ts";

/** A declared route, as Elysia lists it. */
export interface RouteName {
  readonly method: string;
  readonly path: string;
}

/** Looks up the methods of a path, as `Allow` lists them; undefined if there is nothing. */
type MethodTable = (path: string) => string | undefined;

/** The table of the declared `routes`: the one place that knows which methods an address takes. */
export function methodTable(routes: readonly RouteName[]): MethodTable {
  const table = new Map<string, Set<string>>();
  for (const { method, path } of routes) {
    const methods = table.getOrInsertComputed(path, () => new Set());
    methods.add(method);
    if (method === "GET") methods.add("HEAD");
  }
  const templates = [...table].map(([path, methods]) => ({
    pattern: new RegExp(`^${path.replace(/:\w+/g, "[^/]+")}$`),
    methods: [...methods, "OPTIONS"].join(", "),
  }));
  return (path) => templates.find(({ pattern }) => pattern.test(path))?.methods;
}

/** The path of a request's URL as it was sent, which is what the router goes by. */
function pathOf(url: string): string {
  const start = url.indexOf("/", "https://".length);
  const end = url.indexOf("?", start);
  return end === -1 ? url.slice(start) : url.slice(start, end);
}

/**
 * The response of an address without a route for the method: 204 to OPTIONS, 405 to other methods,
 * both with `Allow`; 404 if the address does not exist. A preflight gets 204 there too: otherwise
 * the browser would not send the request, and its page could not read the 404.
 */
export function answerOtherMethod(table: MethodTable, request: Request, cors: Cors | undefined) {
  const record = recordOf(request);
  const allowed = table(pathOf(request.url));
  if (allowed !== undefined) record.headers = { Allow: allowed };
  const isThere = allowed !== undefined || cors?.isPreflight(request) === true;
  if (request.method === "OPTIONS" && isThere) {
    record.bytes = 0;
    return new Response(null, { status: 204 });
  }
  return errorAnswer(
    record,
    allowed === undefined ? nothingHere : otherMethod(request.method, allowed),
  );
}
