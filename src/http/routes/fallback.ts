import { Elysia } from "elysia";
import { refusal, refuse, type AnswerHeaders } from "../errors.ts";
import { gate, type GateOptions } from "../gate.ts";

/** A declared route, as Elysia lists it. */
export interface RouteName {
  readonly method: string;
  readonly path: string;
}

/**
 * Everything under /v1 that is no operation. It stands behind the gate like the operations do, so that a 404 and a 405
 * cost what every request costs and carry the same headers.
 */
export function fallbackRoutes(options: GateOptions, operations: readonly RouteName[]) {
  const allowedAt = methodTable(operations);
  // The parameters are taken apart here: Elysia prepares everything for a handler that takes the context whole.
  const answer = ({
    request,
    set,
  }: {
    request: Request;
    set: { headers: unknown; status?: unknown };
  }) => {
    const headers = set.headers as AnswerHeaders;
    const context = { request, set };
    const { method, url } = request;
    const allowed = allowedAt(new URL(url).pathname);
    if (allowed === undefined) {
      return refuse(context, refusal("not_found", "There is nothing at this address."));
    }
    headers["allow"] = allowed.join(", ");
    if (method === "OPTIONS") {
      set.status = 204;
      delete headers["content-type"];
      return "";
    }
    const message = `This address does not take ${method}; it takes ${allowed.join(", ")}.`;
    return refuse(context, refusal("method_not_allowed", message));
  };
  return new Elysia({ name: "fallback" })
    .use(gate(options))
    .all("/v1", answer, { detail: { hide: true } })
    .all("/v1/*", answer, { detail: { hide: true } });
}

/** Looks up which methods a path takes, from the declared routes; `undefined` where there is none. */
function methodTable(operations: readonly RouteName[]): (path: string) => string[] | undefined {
  const table = new Map<string, Set<string>>();
  for (const { method, path } of operations) {
    const methods = table.get(path) ?? new Set();
    methods.add(method);
    if (method === "GET") methods.add("HEAD");
    table.set(path, methods);
  }
  const templates = [...table].map(([path, methods]) => ({
    pattern: new RegExp(`^${path.replace(/:\w+/g, "[^/]+")}$`),
    methods: [...methods, "OPTIONS"],
  }));
  return (path) => templates.find(({ pattern }) => pattern.test(path))?.methods;
}
