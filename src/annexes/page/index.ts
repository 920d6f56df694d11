import type { Annex } from "../../annex.ts";

export const documentationPath = "/docs";

/** The documentation page, its document, and the landing page. */
export const pageAnnex: Annex = {
  name: "page",
  routes: {
    pages: [{ title: "Docs", path: documentationPath }],
    async load() {
      const [{ landingRoutes }, { documentationRoutes }] = await Promise.all([
        import("./landing-route.ts"),
        import("./documentation-routes.ts"),
      ]);
      return (options) => [landingRoutes(options.baseUrl), documentationRoutes(options)];
    },
  },
};
