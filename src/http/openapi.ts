import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import type { Clock } from "../domain/clock.ts";
import { isGetPetRemoved } from "../domain/deprecation.ts";
import { noServices } from "../service/no-services.ts";
import { interfaceVersion } from "../version.ts";
import { Cors } from "./cors.ts";
import { jsonType } from "./errors.ts";
import { headers, responses, securitySchemes } from "./openapi/components.ts";
import { finalise, type OpenApiDocument } from "./openapi/finalise.ts";
import { documentationPage } from "./page/documentation.ts";
import { html } from "./page/html.ts";
import type { Page } from "./page/layout.ts";
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

/** Stands for the address that a request came to, where the operator named none. */
const unknownBase = "http://base.invalid/v1";
const documentHeaders = { "content-type": jsonType, "cache-control": "no-cache" };

/** The document and the page, as they are while getPet is there or once it is gone. */
interface Made {
  readonly isGone: boolean;
  readonly text: string;
  readonly page: Page;
}

/** The OpenAPI document, made from the declared routes, and the page that shows it: what the plugin's two routes answer. */
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
  const servers = [
    { url: baseUrl ?? unknownBase, description: "This service" },
    ...(stagingBaseUrl === undefined ? [] : [{ url: stagingBaseUrl, description: "Staging" }]),
  ];
  let made: Made | undefined;
  const makeAgain = async (isGone: boolean): Promise<Made> => {
    const raw = await plugin.handle(new Request(`http://localhost${documentPath}`));
    const document = { ...finalise((await raw.json()) as object, clock()), servers };
    const page = documentationPage(document, documentPath);
    return { isGone, text: JSON.stringify(document), page };
  };
  return new Elysia({ name: "openapi" })
    .onAfterHandle(async ({ route, request, set }) => {
      if (route !== documentPath && route !== documentationPath) return undefined;
      // Made once and once more when getPet goes: it takes milliseconds, and anybody may ask for it at any rate.
      const isGone = isGetPetRemoved(clock());
      if (made?.isGone !== isGone) made = await makeAgain(isGone);
      const { text, page } = made;
      const base = new URL("/v1", request.url).href;
      if (route === documentPath) {
        Object.assign(set.headers, documentHeaders);
        return text.replaceAll(unknownBase, () => JSON.stringify(base).slice(1, -1));
      }
      Object.assign(set.headers, page.headers);
      return page.text.replaceAll(unknownBase, () => html`${base}`.text);
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
