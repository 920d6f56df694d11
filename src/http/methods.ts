/** Which methods an address takes, and what it answers to the others. */
import { status } from "elysia";
import { refusal, refuse, type AnswerContext } from "./errors.ts";
import type { AnswerHeaders } from "./headers.ts";
import { recordOf } from "./record.ts";

/** A declared route, as Elysia lists it. */
export interface RouteName {
  readonly method: string;
  readonly path: string;
}

/** Looks up the methods of a path; `undefined` where there is nothing. */
export type MethodTable = (path: string) => readonly string[] | undefined;

/** The table of the declared `routes`. */
export function methodTable(routes: readonly RouteName[]): MethodTable {
  const table = new Map<string, Set<string>>();
  for (const { method, path } of routes) {
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

/** The path of a request's URL as it was sent, which is what the router goes by. */
export function pathOf(url: string): string {
  const start = url.indexOf("/", "https://".length);
  const end = url.indexOf("?", start);
  return end === -1 ? url.slice(start) : url.slice(start, end);
}

/** The refusal of an address at which there is nothing. */
export const nothingHere = refusal("not_found", "There is nothing at this address.");

/** The refusal of an id that no animal has, whatever it looks like. */
export const noSuchPet = refusal("not_found", "There is no animal with this id.");

/** What an address that takes `allowed` answers to another method: 204 to OPTIONS, else 405; both say what it takes. */
export function answerOtherMethod(context: AnswerContext, allowed: readonly string[]) {
  const { method } = context.request;
  const headers = context.set.headers as AnswerHeaders;
  headers["allow"] = allowed.join(", ");
  if (method === "OPTIONS") {
    delete headers["content-type"];
    recordOf(context.request).bytes = 0;
    return status(204, "");
  }
  const message = `This address does not take ${method}; it takes ${allowed.join(", ")}.`;
  return refuse(context, refusal("method_not_allowed", message));
}
