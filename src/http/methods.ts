import { isVersioned } from "./context.ts";
import type { Cors } from "./cors.ts";
import { otherMethod, refusal, refuse, respond } from "./errors.ts";

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
