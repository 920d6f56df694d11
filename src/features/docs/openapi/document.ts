import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import type { OpenAPIV3 } from "openapi-types";
import { int64Max, int64Min } from "../../../domain/int64.ts";
import { isGetPetRemoved, versionSegment, type EdgeOptions } from "../../../http/edge.ts";
import { petRoutes } from "../../../http/routes/pets.ts";
import type { Services } from "../../../service/services.ts";
import { interfaceVersion } from "../../../version.ts";
import { headers, responses, securitySchemes } from "./components.ts";
import { description } from "./description.ts";
import { details, getPet, namedSchemas } from "./operations.ts";

export type OpenApiDocument = OpenAPIV3.Document;
type Operation = OpenAPIV3.OperationObject;
type Json = Record<string, unknown>;

/** Where the plugin responds with what it made; nobody sees this address. */
const specPath = "/document";

/** The document of a service with these settings: the plugin's, with the rest of the prose. */
export async function documentOf(options: EdgeOptions): Promise<OpenApiDocument> {
  const { baseUrl = "http://127.0.0.1:8080/v1", stagingBaseUrl, clock } = options;
  // Routes that are only described need no store.
  const routes = petRoutes({ cors: undefined, services: { clock } as Services });
  const app = new Elysia().use(routes).use(plugin());
  const response = await app.handle(new Request(`http://localhost${specPath}`));
  const servers = [
    { url: baseUrl, description: "This service" },
    ...(stagingBaseUrl === undefined ? [] : [{ url: stagingBaseUrl, description: "Staging" }]),
  ];
  return finalise((await response.json()) as OpenApiDocument, servers, isGetPetRemoved(clock()));
}

/** The document as YAML that readers of YAML 1.1, with its more booleans, read the same way. */
export async function yamlOf(document: OpenApiDocument): Promise<string> {
  // Loaded where it is wanted, as the document itself is.
  const { stringify } = await import("yaml");
  return stringify(document, { compat: "yaml-1.1", lineWidth: 0 });
}

function plugin() {
  return swagger({
    specPath,
    documentation: {
      info: {
        title: "rehome",
        version: interfaceVersion,
        contact: { name: "The operator of this service" },
        license: { name: "MIT", url: "https://opensource.org/license/mit" },
      },
      security: [{ bearer: [] }],
      tags: [{ name: "pets", description: "Animals that are up for adoption." }],
      components: { schemas: namedSchemas, headers, responses, securitySchemes },
    },
  });
}

/**
 * Adds what the routes do not say of their operations. Each named schema is described once, paths
 * are relative to the servers, and a removed operation is left out.
 */
function finalise(
  { openapi, info, security, tags, paths, components }: OpenApiDocument,
  servers: OpenAPIV3.ServerObject[],
  isRemoved: boolean,
): OpenApiDocument {
  const named = (components?.schemas ?? {}) as Record<string, Json>;
  const tidy = (value: unknown) => tidied(value, new Set(Object.keys(named)));
  const untitled = Object.entries(named).map(([name, { title: _title, ...schema }]) => [
    name,
    schema,
  ]);
  const operations = Object.entries(paths).flatMap(([path, item = {}]) =>
    Object.entries(item).map(([method, operation]) => ({
      path,
      method,
      operation: finalOperation({ ...(operation as Operation), ...details[`${method} ${path}`] }),
    })),
  );
  const shown = operations.filter(
    ({ operation }) => !isRemoved || operation.operationId !== getPet.operationId,
  );
  const items: Record<string, Record<string, Operation>> = {};
  for (const { path, method, operation } of shown) {
    // The addresses of the servers end with the version.
    (items[path.slice(versionSegment.length)] ??= {})[method] = operation;
  }
  return {
    openapi,
    info: { ...info, description: description(!isRemoved) },
    servers,
    security,
    tags,
    paths: tidy(items),
    components: tidy({
      ...components,
      schemas: Object.fromEntries(untitled),
    }),
  } as OpenApiDocument;
}

function finalOperation({ parameters = [], responses, ...rest }: Operation): Operation {
  return { ...rest, parameters: parameters.map(finalParameter), responses } as Operation;
}

/** The example stands where every tool looks for it. */
function finalParameter(parameter: OpenAPIV3.ReferenceObject | OpenAPIV3.ParameterObject) {
  if ("$ref" in parameter) return parameter;
  const { name, in: place, required, description, schema = {}, ...rest } = parameter;
  const { example, ...type } = schema as OpenAPIV3.SchemaObject;
  const shown = example === undefined ? {} : { example: example as unknown };
  return { name, in: place, required, description, ...shown, schema: type, ...rest };
}

/** `value` with a reference in place of every schema whose title is in `names`, at any depth. */
function tidied(value: unknown, names: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((item) => tidied(item, names));
  if (typeof value !== "object" || value === null) return value;
  const { title } = value as Json;
  if (typeof title === "string" && names.has(title)) {
    return { $ref: `#/components/schemas/${title}` };
  }
  const entries = Object.entries(value)
    // What the plugin adds to a schema, and JSON Schema means anyway.
    .filter(([key, entry]) => key !== "additionalProperties" || entry !== true)
    .map(([key, entry]) => [key, tidied(entry, names)]);
  return Object.fromEntries([...entries, ...int64Bounds(value as Json)]);
}

/** The bounds of an int64 that has none of its own, with every digit: `jsonText` writes them so. */
function int64Bounds({ type, format, minimum, maximum }: Json): [string, bigint][] {
  if (type !== "integer" || format !== "int64") return [];
  const bounds: [string, bigint][] = [];
  if (minimum === undefined) bounds.push(["minimum", int64Min]);
  if (maximum === undefined) bounds.push(["maximum", int64Max]);
  return bounds;
}
