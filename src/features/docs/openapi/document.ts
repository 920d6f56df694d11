import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import type { Clock } from "../../../domain/clock.ts";
import type { Services } from "../../../service/services.ts";
import { interfaceVersion } from "../../../version.ts";
import type { EdgeOptions } from "../../../http/edge.ts";
import { petRoutes } from "../../../http/routes/pets.ts";
import { headers, responses, securitySchemes } from "./components.ts";
import { finalise, type OpenApiDocument } from "./finalise.ts";
import { namedSchemas } from "./schemas.ts";

/** Where the plugin answers with what it made; nobody sees this address. */
const documentPath = "/document";
const ownBaseUrl = "http://127.0.0.1:8080/v1";

/** The document of a service with these settings: the plugin's result, finalised. */
export async function documentOf(options: EdgeOptions): Promise<OpenApiDocument> {
  const { baseUrl = ownBaseUrl, stagingBaseUrl, clock } = options;
  // Only what the routes declare is asked for, which takes no store.
  const services = noServices(clock);
  const app = new Elysia().use(petRoutes({ cors: undefined, services })).use(plugin());
  const answer = await app.handle(new Request(`http://localhost${documentPath}`));
  const servers = [
    { url: baseUrl, description: "This service" },
    ...(stagingBaseUrl === undefined ? [] : [{ url: stagingBaseUrl, description: "Staging" }]),
  ];
  return { ...finalise((await answer.json()) as object, clock()), servers };
}

/** The document as YAML that readers of YAML 1.1, with its more booleans, read the same way. */
export async function yamlOf(document: OpenApiDocument): Promise<string> {
  // Loaded where it is wanted, as the document itself is.
  const { stringify } = await import("yaml");
  return stringify(document, { compat: "yaml-1.1", lineWidth: 0 });
}

/** Services without a store, for routes that are only described. Any use throws. */
function noServices(clock: Clock): Services {
  return new Proxy({ clock } as Services, {
    get(target, name) {
      if (name === "clock") return target.clock;
      throw new Error(`there is no store, and so no ${String(name)}`);
    },
  });
}

function plugin() {
  return swagger({
    specPath: documentPath,
    documentation: {
      info: {
        title: "rehome",
        version: interfaceVersion,
        contact: { name: "The operator of this service" },
        license: { name: "MIT", url: "https://opensource.org/license/mit" },
      },
      security: [{ bearer: [] }],
      tags: [{ name: "pets", description: "Animals that are up for adoption." }],
      components: {
        schemas: namedSchemas,
        headers,
        responses,
        securitySchemes,
      },
    },
  });
}
