import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import type { OpenAPIV3 } from "openapi-types";
import { int64Max, int64Min } from "../../../domain/int64.ts";
import type { RoutesOptions } from "../../../http/app.ts";
import { versionSegment } from "../../../http/context.ts";
import { isGetPetRemoved } from "../../../http/routes/operations.ts";
import { petRoutes } from "../../../http/routes/pets.ts";
import { headers, responses, securitySchemes } from "./components.ts";
import { description, interfaceVersion } from "./description.ts";

export type OpenApiDocument = OpenAPIV3.Document;
type Json = Record<string, unknown>;

/** Where the plugin responds with what it made; nobody sees this address. */
const specPath = "/document";

/** The document of a service with these settings: the plugin's, of the operations' routes. */
export async function documentOf(
  options: Pick<RoutesOptions, "baseUrl" | "clock" | "stagingBaseUrl">,
): Promise<OpenApiDocument> {
  const { baseUrl = versionSegment, clock, stagingBaseUrl } = options;
  const isRemoved = isGetPetRemoved(clock());
  const app = new Elysia().use(petRoutes(onlyDescribed)).use(plugin(isRemoved));
  const response = await app.handle(new Request(`http://localhost${specPath}`));
  const { info, openapi, ...made } = (await response.json()) as OpenApiDocument;
  const servers = [
    { url: baseUrl, description: "This service" },
    ...(stagingBaseUrl === undefined ? [] : [{ url: stagingBaseUrl, description: "Staging" }]),
  ];
  const { components = {}, paths, ...rest } = shared(made);
  if (isRemoved) delete paths["/pets/{petId}"];
  return { openapi, info, servers, ...rest, paths, components };
}

function onlyDescribed(): never {
  throw new Error("these routes are only described");
}

/** The document as YAML that readers of YAML 1.1, with its more booleans, read the same way. */
export async function yamlOf(document: OpenApiDocument): Promise<string> {
  // Loaded where it is wanted, as the document itself is.
  const { stringify } = await import("yaml");
  return stringify(document, { compat: "yaml-1.1", lineWidth: 0 });
}

function plugin(isRemoved: boolean) {
  return swagger({
    specPath,
    documentation: {
      info: {
        title: "rehome",
        version: interfaceVersion,
        description: description(!isRemoved),
        contact: { name: "The operator of this service" },
        license: { name: "MIT", url: "https://opensource.org/license/mit" },
      },
      security: [{ bearer: [] }],
      tags: [{ name: "pets", description: "Animals that are up for adoption." }],
      components: { headers, responses, securitySchemes },
    },
  });
}

/**
 * What the plugin does not do: a reference in place of each schema that has a name, the example of
 * a parameter where every tool looks for it, and the bounds of an int64 with every digit, which
 * `jsonText` writes so.
 */
function shared<T extends Pick<OpenApiDocument, "components">>(made: T): T {
  const names = new Set(Object.keys(made.components?.schemas ?? {}));

  function shown(value: unknown, key: string, of: string): unknown {
    if (Array.isArray(value)) return value.map((item) => shown(item, "", key));
    if (typeof value !== "object" || value === null) return value;
    // Elysia's own notes are not for readers.
    const { $id: _id, additionalProperties: _more, title, ...fields } = value as Json;
    const isItself = of === "schemas" && key === title;
    if (typeof title === "string" && names.has(title) && !isItself) {
      return { $ref: `#/components/schemas/${title}` };
    }
    const entries = Object.entries({ ...fields, ...exampleOf(fields), ...int64Bounds(fields) });
    return Object.fromEntries(entries.map(([name, each]) => [name, shown(each, name, key)]));
  }

  return shown(made, "", "") as T;
}

function exampleOf({ in: place, schema }: Json): Json {
  if (typeof place !== "string" || typeof schema !== "object" || schema === null) return {};
  const { example, ...type } = schema as Json;
  return example === undefined ? {} : { example, schema: type };
}

function int64Bounds({ type, format, minimum = int64Min, maximum = int64Max }: Json): Json {
  return type === "integer" && format === "int64" ? { minimum, maximum } : {};
}
