import { Elysia } from "elysia";
import type { Cors } from "../cors.ts";
import { isGetPetRemoved } from "../edge.ts";
import { nothingHere, otherMethod, refusal, refuse } from "../errors.ts";
import { guard, type GuardOptions } from "../guard.ts";
import { recordOf } from "../record.ts";
import { isGetPet } from "./pets.ts";

export interface RouteName {
  readonly method: string;
  readonly path: string;
}

/** Looks up the methods of a path, as `Allow` lists them; undefined if there is nothing. */
type MethodTable = (path: string) => string | undefined;

/** The table of the declared `routes`: the one place that knows which methods an address has. */
export function methodTable(routes: readonly RouteName[]): MethodTable {
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
 * both with `Allow`; `missing` if the address does not exist. A preflight gets 204 there too:
 * otherwise the browser would not send the request, and its page could not read the 404.
 */
export function otherResponse(
  table: MethodTable,
  request: Request,
  cors: Cors | undefined,
  missing = nothingHere,
): Response {
  const allowed = table(pathOf(request.url));
  const headers: Record<string, string> = allowed === undefined ? {} : { Allow: allowed };
  const isThere = allowed !== undefined || cors?.isPreflight(request) === true;
  if (request.method === "OPTIONS" && isThere) {
    recordOf(request).bytes = 0;
    return new Response(null, { status: 204, headers });
  }
  if (allowed === undefined) return refuse(request, missing);
  return refuse(request, otherMethod(request.method, allowed), headers);
}

const noOperation = refusal(
  "not_found",
  "There is nothing at this address. Paths are exact: /v1/pets, /v1/pets/{petId}.",
);

/**
 * Everything else under /v1. It is behind the guard like the operations, so a 404 and a 405 cost
 * the same and have the same headers.
 */
export function fallbackRoutes(options: GuardOptions, operations: readonly RouteName[]) {
  const methods = methodTable(operations);
  const methodsWithoutGetPet = methodTable(operations.filter((route) => !isGetPet(route)));
  const respond = ({ request }: { request: Request }) => {
    const table = isGetPetRemoved(options.services.clock()) ? methodsWithoutGetPet : methods;
    return otherResponse(table, request, options.cors, noOperation);
  };
  return new Elysia({ name: "fallback" })
    .use(guard(options))
    .all("/v1", respond)
    .all("/v1/*", respond);
}
