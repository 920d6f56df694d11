import type { Static } from "@sinclair/typebox";
import { pageLimit, parsePageLimit, type PageQuery } from "../domain/page.ts";
import { parseInt64 } from "../domain/int64.ts";
import type { ListQuery } from "./schemas.ts";

const listParameters = new Set(["limit", "status", "after"]);

/**
 * The list's parameters in a URL, decoded as a form is (WHATWG URL, section 5.1); unknown ones are left out. A parameter
 * that stands there twice comes as an array, which no schema accepts.
 */
export function readListQuery(url: string): Record<string, string | string[]> {
  const start = url.indexOf("?");
  const query: Record<string, string | string[]> = {};
  if (start === -1) return query;
  for (const [name, value] of new URLSearchParams(url.slice(start + 1))) {
    if (!listParameters.has(name)) continue;
    const sofar = query[name];
    query[name] = sofar === undefined ? value : [value].concat(sofar);
  }
  return query;
}

/** The page that a checked query asks for. */
export function pageQueryOf({ limit, status, after }: Static<typeof ListQuery>): PageQuery {
  return {
    limit: (limit === undefined ? undefined : parsePageLimit(limit)) ?? pageLimit.default,
    status,
    after: after === undefined ? undefined : parseInt64(after),
  };
}
