import type { Feature } from "../../feature.ts";

export const documentationPath = "/docs";

/** The OpenAPI document, the page that shows it, and the landing page. */
export const docsFeature: Feature = {
  name: "page",
  commands: [
    {
      path: "openapi",
      load: async () => (await import("./openapi-command.ts")).openapiCommand,
    },
  ],
  routes: () => ({
    pages: [{ title: "Docs", path: documentationPath }],
    async load() {
      const [{ landingRoutes }, { documentationRoutes }] = await Promise.all([
        import("./landing-route.ts"),
        import("./documentation-routes.ts"),
      ]);
      return (options) => [landingRoutes(), documentationRoutes(options)];
    },
  }),
};
