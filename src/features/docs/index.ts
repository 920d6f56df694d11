import { text } from "../../config.ts";
import type { Feature } from "../../feature.ts";

const docsUrl = {
  ...text("docs-url", "URL", "where callers find the guides of this service, for a link on /docs"),
  rule: "must be an http or https address",
  parse: (value: string) =>
    /^https?:\/\/\S+$/.test(value) && URL.canParse(value) ? value : undefined,
};

export const docsFeature: Feature = {
  name: "page",
  settings: [docsUrl],
  commands: [
    { path: "openapi", load: async () => (await import("./openapi-command.ts")).openapiCommand },
  ],
  routes: (valueOf) => ({
    pages: [{ title: "Docs", path: "/docs" }],
    async load() {
      const { docsRoutes } = await import("./routes.ts");
      return (options) => [docsRoutes(valueOf(docsUrl), options)];
    },
  }),
};
