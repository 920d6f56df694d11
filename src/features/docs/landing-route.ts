import { Elysia } from "elysia";
import { versionSegment } from "../../http/edge.ts";
import { jsonType, respond } from "../../http/errors.ts";
import { baseUrlOf } from "../../http/record.ts";
import { landingPage, type Links } from "./landing.ts";
import { documentPath } from "./documentation-routes.ts";
import { documentationPath } from "./index.ts";

/** `GET /`: where everything is, as a page for a browser and as JSON for anybody else. */
export function landingRoutes() {
  return new Elysia({ name: "landing" }).get("/", ({ request }) => {
    const api = baseUrlOf(request);
    const root = api.slice(0, -versionSegment.length);
    const links: Links = {
      api,
      documentation: `${root}${documentationPath}`,
      openapi: `${root}${documentPath}`,
    };
    if (wantsPage(request.headers.get("accept") ?? "")) {
      const { text, headers } = landingPage(links);
      return respond(request, text, { headers: { ...headers, vary: "Accept" } });
    }
    const headers = { "content-type": jsonType, "cache-control": "no-cache", vary: "Accept" };
    return respond(request, JSON.stringify({ name: "rehome", ...links }), { headers });
  });
}

/** True for what a browser sends: it names HTML. A program that takes anything gets JSON. */
function wantsPage(accept: string): boolean {
  return /\btext\/html\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(accept);
}
