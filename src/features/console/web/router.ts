import type { Role } from "../tables.ts";
import type { Visit } from "./visit.ts";

export type Handler = (visit: Visit) => Response | Promise<Response>;

/** A path of the console. A person of another role does not get there. */
export interface Route {
  readonly method: "GET" | "POST";
  /** `/animals/:id`: a part that begins with a colon takes anything but a slash. */
  readonly path: string;
  readonly role: Role;
  /** True if the handler reads the body by itself, as it may be large. */
  readonly isUpload?: boolean;
  readonly handle: Handler;
}

interface Compiled extends Route {
  readonly pattern: RegExp;
}

/** What a path means: a route with its parameters, the methods that it has instead, or nothing. */
type Match =
  | { readonly route: Route; readonly params: Readonly<Record<string, string>> }
  | { readonly route: undefined; readonly allowed: readonly string[] };

/** Returns a function that finds the route of a method and a path. HEAD is GET. */
export function router(routes: readonly Route[]): (method: string, path: string) => Match {
  const compiled: Compiled[] = routes.map((route) => ({
    ...route,
    pattern: new RegExp(`^${route.path.replace(/:(\w+)/g, "(?<$1>[^/]+)")}$`),
  }));
  return (method, path) => {
    const wanted = method === "HEAD" ? "GET" : method;
    const here = compiled.filter(({ pattern }) => pattern.test(path));
    const route = here.find((each) => each.method === wanted);
    if (route === undefined) return { route, allowed: here.map((each) => each.method) };
    return { route, params: { ...route.pattern.exec(path)?.groups } };
  };
}
