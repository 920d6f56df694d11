import type { Annex } from "../../annex.ts";
import { documentationPath, documentationRoutes } from "./documentation-routes.ts";
import { landingRoutes } from "./landing-route.ts";

/** The documentation page, its document, and the landing page. */
export const pageAnnex: Annex = {
  name: "page",
  routes: {
    pages: [{ title: "Docs", path: documentationPath }],
    make: (options) => [landingRoutes(options.baseUrl), documentationRoutes(options)],
  },
};
