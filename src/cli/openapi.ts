import { Command } from "commander";
import { createApp } from "../http/app.ts";
import { documentOf } from "../http/openapi.ts";
import { inMemory } from "../service/open-store.ts";
import { printJson, type Io } from "./io.ts";
import { withServices } from "./open.ts";
import { addSettings, configOf } from "./options.ts";

/** `rehome openapi`: the document, without a store or a server. */
export function openapiCommand(io: Io): Command {
  const command = new Command("openapi")
    .description("print the OpenAPI document of the interface")
    .addHelpText(
      "after",
      "\nExample:\n  rehome openapi --base-url https://pets.example.org/v1 > openapi.json",
    );
  return addSettings(command, ["baseUrl", "stagingBaseUrl"]).action(async () => {
    const { config } = configOf(command, io);
    // The document comes from the declared routes, so it takes an application, but nobody's data.
    const nowhere = { ...config, data: inMemory, store: undefined, storeFile: undefined };
    await withServices(nowhere, io, async (services) => {
      const { baseUrl, stagingBaseUrl } = config;
      const app = createApp({
        services,
        baseUrl,
        stagingBaseUrl,
        corsOrigins: [],
        trustedProxies: [],
        report(error) {
          throw error;
        },
      });
      printJson(io, await documentOf(app));
    });
  });
}
