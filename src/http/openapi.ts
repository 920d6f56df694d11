import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import type { Clock } from "../domain/clock.ts";
import { noServices } from "../service/no-services.ts";
import { interfaceVersion } from "../version.ts";
import { Cors } from "./cors.ts";
import { jsonType } from "./errors.ts";
import { headers, responses, securitySchemes } from "./openapi/components.ts";
import { finalise, type OpenApiDocument } from "./openapi/finalise.ts";
import { PetAnswers } from "./answers.ts";
import { petRoutes } from "./routes/pets.ts";
import { namedSchemas } from "./schemas.ts";

export interface OpenApiOptions {
  /** The address of /v1 as callers reach it; by default the one that the request came to. */
  readonly baseUrl: string | undefined;
  readonly stagingBaseUrl: string | undefined;
  readonly clock: Clock;
}

export const documentationPath = "/docs";
export const documentPath = `${documentationPath}/json`;

/** The OpenAPI document, made from the declared routes. */
export function openapi({ baseUrl, stagingBaseUrl, clock }: OpenApiOptions) {
  const plugin = swagger({
    path: documentationPath,
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
        schemas: Object.fromEntries(namedSchemas.map((schema) => [schema.title, schema])),
        headers,
        responses,
        securitySchemes,
      },
    },
  });
  const servers = (request: Request) => [
    { url: baseUrl ?? new URL("/v1", request.url).href, description: "This service" },
    ...(stagingBaseUrl === undefined ? [] : [{ url: stagingBaseUrl, description: "Staging" }]),
  ];
  return new Elysia({ name: "openapi" })
    .onAfterHandle(({ route, responseValue, request, set }) => {
      if (route !== documentPath) return undefined;
      set.headers["content-type"] = jsonType;
      const document = finalise(responseValue as object, clock());
      return JSON.stringify({ ...document, servers: servers(request) });
    })
    .use(plugin);
}

/** The document that a service with these settings serves; made without a store or a server. */
export async function documentOf(options: OpenApiOptions): Promise<OpenApiDocument> {
  const services = noServices(options.clock);
  const { baseUrl = "http://127.0.0.1:8080/v1" } = options;
  const routes = petRoutes({
    services,
    cors: new Cors([]),
    answers: new PetAnswers(services),
    baseUrl,
  });
  const app = new Elysia().use(routes).use(openapi({ ...options, baseUrl }));
  const answer = await app.handle(new Request(`http://localhost${documentPath}`));
  return (await answer.json()) as OpenApiDocument;
}
