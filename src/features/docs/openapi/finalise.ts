import type { OpenAPIV3 } from "openapi-types";
import { isGetPetRemoved, versionSegment } from "../../../http/edge.ts";
import { int64Max, int64Min } from "../../../domain/int64.ts";
import { description } from "./description.ts";
import { details, getPet } from "./operations.ts";

export type OpenApiDocument = OpenAPIV3.Document;
type Operation = OpenAPIV3.OperationObject;
type Json = Record<string, unknown>;

/** What the plugin adds to a schema, and JSON Schema means anyway. */
const redundant = (key: string, value: unknown) => key === "additionalProperties" && value === true;

/**
 * The document at `nowMs`, from the plugin's result and the details of operations.ts. Each named
 * schema is described once, only the accepted media type remains, paths are relative to the
 * servers, and removed operations are left out.
 */
export function finalise(raw: object, nowMs: number): OpenApiDocument {
  // Through JSON, because the plugin hands over live schemas with symbols and undefined in them.
  const document = JSON.parse(JSON.stringify(raw)) as OpenApiDocument;
  const { openapi, info, servers, security, tags, paths, components } = document;
  const isGone = isGetPetRemoved(nowMs);
  const named = (components?.schemas ?? {}) as Record<string, Json>;
  const tidy = (value: unknown) => tidied(value, new Set(Object.keys(named)));
  const shownPaths = isGone ? withoutGetPet(finalPaths(paths)) : finalPaths(paths);
  const headers = usedHeaders(components?.headers, [shownPaths, components?.responses]);
  return {
    openapi,
    info: { ...info, description: description(!isGone) },
    servers: servers ?? [],
    security: security ?? [],
    tags: tags ?? [],
    paths: tidy(shownPaths),
    components: tidy({ ...components, headers, schemas: untitled(named) }),
  } as OpenApiDocument;
}

/** Those of `headers` that `users` refer to: an operation with others may be gone. */
function usedHeaders(headers: Json = {}, users: unknown): Json {
  const text = JSON.stringify(users);
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => text.includes(`"#/components/headers/${name}"`)),
  );
}

function finalPaths(paths: OpenAPIV3.PathsObject): OpenAPIV3.PathsObject {
  const entries = Object.entries(paths).map(([path, item = {}]) => {
    const operations = Object.entries(item).map(([method, operation]) => [
      method,
      finalOperation({ ...(operation as Operation), ...details[`${method} ${path}`] }),
    ]);
    // The addresses of the servers end with the version.
    return [path.slice(versionSegment.length), Object.fromEntries(operations)] as const;
  });
  return Object.fromEntries(entries);
}

function finalOperation(operation: Operation): Operation {
  const { operationId, summary, description, tags, deprecated, responses, ...rest } = operation;
  const { parameters = [], requestBody, ...extensions } = rest;
  return {
    operationId,
    summary,
    description,
    tags,
    ...(deprecated === true ? { deprecated } : {}),
    ...extensions,
    parameters: parameters.map(finalParameter),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses,
  } as Operation;
}

/** The same in the order of reading, with the example where every tool looks for it. */
function finalParameter(parameter: OpenAPIV3.ReferenceObject | OpenAPIV3.ParameterObject) {
  if ("$ref" in parameter) return parameter;
  const { name, in: place, required, description, schema = {}, ...rest } = parameter;
  const { example, ...type } = schema as OpenAPIV3.SchemaObject;
  const shown = example === undefined ? {} : { example: example as unknown };
  return { name, in: place, required, description, ...shown, schema: type, ...rest };
}

function withoutGetPet(paths: OpenAPIV3.PathsObject): OpenAPIV3.PathsObject {
  return Object.fromEntries(
    Object.entries(paths).filter(([, item]) => item?.get?.operationId !== getPet.operationId),
  );
}

function untitled(named: Record<string, Json>): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(named).map(([name, { title: _title, ...schema }]) => [name, schema]),
  );
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
    .filter(([key, entry]) => !redundant(key, entry))
    .map(([key, entry]) => [key, tidied(entry, names)]);
  return Object.fromEntries([...entries, ...int64Bounds(value as Json)]);
}

/** The bounds of an int64 that has none of its own, with every digit: `jsonText` writes them so. */
function int64Bounds({ type, format, minimum, maximum }: Json): [string, bigint][] {
  if (type !== "integer" || format !== "int64") return [];
  return [
    ...(minimum === undefined ? [["minimum", int64Min] as [string, bigint]] : []),
    ...(maximum === undefined ? [["maximum", int64Max] as [string, bigint]] : []),
  ];
}
