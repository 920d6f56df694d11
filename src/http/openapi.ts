import { swagger } from "@elysiajs/swagger";
import { Elysia, type AnyElysia } from "elysia";
import { interfaceVersion } from "../version.ts";

export interface OpenApiOptions {
  readonly baseUrl: string | undefined;
  readonly stagingBaseUrl: string | undefined;
}

export const documentationPath = "/docs";
const documentPath = `${documentationPath}/json`;
const defaultBaseUrl = "http://127.0.0.1:8080/v1";

/** The OpenAPI document, from the declared routes, and the page that shows it. */
export function openapi({ baseUrl = defaultBaseUrl, stagingBaseUrl }: OpenApiOptions) {
  const servers = [{ url: baseUrl, description: "This service" }];
  if (stagingBaseUrl !== undefined) servers.push({ url: stagingBaseUrl, description: "Staging" });
  return new Elysia({ name: "openapi" }).use(
    swagger({
      path: documentationPath,
      specPath: documentPath,
      documentation: {
        info: { title: "rehome", version: interfaceVersion },
        servers,
        security: [{ bearer: [] }],
        components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
      },
    }),
  );
}

/** The document that `app` serves. */
export async function documentOf(app: AnyElysia): Promise<unknown> {
  const answer = await app.handle(new Request(`http://localhost${documentPath}`));
  return answer.json();
}
