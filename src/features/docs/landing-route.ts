import { Elysia } from "elysia";
import { baseUrlOf, versionSegment } from "../../http/edge.ts";
import { jsonType } from "../../http/errors.ts";
import { landingPage, type Links } from "./landing.ts";
import { documentPath } from "./documentation-routes.ts";
import { documentationPath } from "./index.ts";

/** `GET /`: where everything is, as a page for a browser and as JSON for anybody else. */
export function landingRoutes(baseUrl: string | undefined) {
  return new Elysia({ name: "landing" }).get("/", ({ request, set }) => {
    const api = baseUrlOf(request.url, baseUrl);
    const root = api.slice(0, -versionSegment.length);
    const links: Links = {
      api,
      documentation: `${root}${documentationPath}`,
      openapi: `${root}${documentPath}`,
    };
    set.headers["vary"] = "Accept";
    if (!wantsPage(request.headers.get("accept") ?? "")) {
      set.headers["content-type"] = jsonType;
      set.headers["cache-control"] = "no-cache";
      return JSON.stringify({ name: "rehome", ...links });
    }
    const { text, headers } = landingPage(links);
    Object.assign(set.headers, headers);
    return text;
  });
}

/** True for what a browser sends: it names HTML. A program that takes anything gets JSON. */
function wantsPage(accept: string): boolean {
  return /\btext\/html\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(accept);
}
