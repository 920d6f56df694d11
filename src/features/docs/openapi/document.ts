import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import type { OpenAPIV3 } from "openapi-types";
import { keyPrefixes } from "../../../domain/api-key.ts";
import type { ErrorKind } from "../../../domain/errors.ts";
import { grouped, int64Max, int64Min } from "../../../domain/int64.ts";
import { planNames, publishedLimits, type PlanName } from "../../../domain/plan.ts";
import type { RoutesOptions } from "../../../http/app.ts";
import { bodyLimitBytes } from "../../../http/body.ts";
import { versionSegment } from "../../../http/context.ts";
import { statusOf } from "../../../http/errors.ts";
import { getPetRemovedOn, isGetPetRemoved } from "../../../http/routes/operations.ts";
import { petRoutes } from "../../../http/routes/pets.ts";
import { planTitles } from "../../plan-titles.ts";
import { headers, responses, securitySchemes } from "./components.ts";

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
        description: `${prose}\n${isRemoved ? "" : deprecation}`,
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

/* The prose of the document. Its numbers come from the constants in force. */

/** The version of the interface under /v1, as the specification gives it. */
const interfaceVersion = "1.0.0";

/** Rows of a table in Markdown. */
const rows = (cells: readonly (readonly string[])[]) =>
  cells.map((each) => `| ${each.join(" | ")} |`).join("\n");

function planRow(plan: PlanName): string[] {
  if (plan === "enterprise") return [planTitles[plan], "custom", "custom"];
  const { perMinute, perDay } = publishedLimits[plan];
  return [planTitles[plan], grouped(perMinute), grouped(perDay)];
}

const meaningOf = {
  invalid_request: "The query or the body is not valid; the message names the field.",
  unauthorized: "The API key is missing or invalid.",
  forbidden: "The API key is read-only, and the request would add an animal.",
  not_found: "There is no such animal, or nothing at this address.",
  method_not_allowed:
    "The address does not support this method; `Allow` lists those that it supports.",
  payload_too_large: `The body is larger than ${bodyLimitBytes / 1024} KiB.`,
  unsupported_media_type: "The body is not sent as `application/json`, or it is compressed.",
  rate_limited: "A window's requests are used up.",
  key_banned: "The key is banned for some time, because it kept sending after 429.",
  internal_error: "A failure of the service.",
  unavailable: "The service is busy, or its store did not respond in time; try again.",
} satisfies Record<ErrorKind, string>;

const prose = `Animals that are up for adoption: list them, add one, fetch one.

## Authentication

Every operation needs an API key, sent as a header:

\`\`\`
Authorization: Bearer <API_KEY>
\`\`\`

The operator of the service issues keys. A key begins with \`${keyPrefixes.production}\`, or with \`${keyPrefixes.staging}\` on a staging installation. Neither accepts the keys of the other.

## Rate limits

| Plan | Requests per minute | Requests per day |
| --- | --- | --- |
${rows(planNames.map(planRow))}

Minutes and days are UTC. Every request counts in both, except one that gets 429, and one that gets 503 because it could not be counted. Every response has three headers: \`X-RateLimit-Limit\` is the request limit that applies to the caller, \`X-RateLimit-Remaining\` the number of requests left in the current window, and \`X-RateLimit-Reset\` when it resets, a Unix timestamp in seconds.

They show the window with the fewest requests left. Above the limit you get 429 with \`Retry-After\`: wait that many seconds, and back off exponentially if it happens again. A key that keeps sending is banned for some time. A higher plan has higher limits.

## Pagination

\`GET /pets\` returns a plain array of at most \`limit\` animals, by ascending id. While there are more, the response has a link to the next page (RFC 8288):

\`\`\`
Link: <https://pets.example.org/v1/pets?limit=20&after=20>; rel="next"
\`\`\`

Follow it until a response has none. Its query parameter \`after\` is the one addition to the interface: without it, animals past the hundredth could not be reached.

Other query parameters are ignored. There is no \`page\`: pass the id of the last animal as \`after\`. There is no filter by \`categoryId\` and no \`sort\`: read all pages, then filter and sort.

## Errors

Every error has the same body, with the fields \`code\`, \`message\` and \`status\`:

| Status | Code | Meaning |
| --- | --- | --- |
${rows(Object.entries(meaningOf).map(([kind, meaning]) => [`${statusOf[kind as ErrorKind]}`, `\`${kind}\``, meaning]))}

## Numbers

\`id\`, \`categoryId\` and \`after\` are exact over all 64 bits, as JSON numbers. A language that reads every JSON number as a double, such as JavaScript, rounds those beyond ±9007199254740991 unless you change its parser.

## Versioning

The version is part of the base address, which ends with \`${versionSegment}\`. The interface has version ${interfaceVersion}.`;

const deprecation = `
\`GET /pets/{petId}\` is deprecated and is removed on ${getPetRemovedOn}; \`GET /pets\` with a \`status\` filter replaces it. Until then its responses with 200 and 404 have the headers \`Deprecation\` (RFC 9745), \`Sunset\` (RFC 8594) and \`Link\`.
`;
