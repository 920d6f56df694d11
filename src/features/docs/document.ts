/** The OpenAPI document: the plugin's, with its prose, and what several operations share. */
import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import type { OpenAPIV3 } from "openapi-types";
import { keyPrefixes } from "../../domain/api-key.ts";
import { httpDate } from "../../domain/clock.ts";
import type { ErrorKind } from "../../domain/errors.ts";
import { grouped, int64Max, int64Min } from "../../domain/int64.ts";
import { limitMax, planNames, publishedLimits, type PlanName } from "../../domain/plan.ts";
import type { RoutesOptions } from "../../http/app.ts";
import { bodyLimitBytes } from "../../http/body.ts";
import { versionSegment } from "../../http/context.ts";
import { encodedBody, errorBody, jsonType, statusOf } from "../../http/errors.ts";
import {
  getPetDeprecatedAtMs,
  getPetRemovedAtMs,
  getPetRemovedOn,
  isGetPetRemoved,
  noSuchPet,
  otherBody,
  petRoutes,
} from "../../http/pets.ts";
import { readOnlyKey, unauthorized } from "../../service/admission.ts";
import { planTitles } from "../visible.ts";

export type OpenApiDocument = OpenAPIV3.Document;
type Json = Record<string, unknown>;

const onlyDescribed = () => {
  throw new Error("these routes are only described");
};
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

const interfaceVersion = "1.0.0";

const rows = (cells: readonly (readonly string[])[]) =>
  cells.map((each) => `| ${each.join(" | ")} |`).join("\n");

function planRow(plan: PlanName): string[] {
  if (plan === "enterprise") return [planTitles[plan], "custom", "custom"];
  const { perMinute, perDay } = publishedLimits[plan];
  return [planTitles[plan], grouped(perMinute), grouped(perDay)];
}

const tooLarge = `The body is larger than ${bodyLimitBytes / 1024} KiB.`;

const meaningOf = {
  invalid_request: "The query or the body is not valid; the message names the field.",
  unauthorized:
    "The API key is missing or invalid. The limit headers show the numbers of the caller's address, never those of a key.",
  forbidden:
    "The API key is read-only, and the request would add an animal. It was charged like any other.",
  not_found: "There is no such animal, or nothing at this address.",
  method_not_allowed:
    "The address does not support this method; `Allow` lists those that it supports.",
  payload_too_large: tooLarge,
  unsupported_media_type: "The body is not sent as `application/json`, or it is compressed.",
  rate_limited: "A window's requests are used up.",
  key_banned: "The key is banned for some time, because it kept sending after 429.",
  internal_error: "The service failed. The error was logged.",
  unavailable:
    "The service is busy, or its store did not respond in time. Try again after `Retry-After`.",
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

/* What several operations share: headers, refusals and their examples. */

type Reference = OpenAPIV3.ReferenceObject;
type Headers = Record<string, Reference>;

/** The last instant that a Date can hold (ECMA-262, section 21.4.1.1), in seconds. */
const dateMaxSeconds = 8.64e12;
/** Of a header with an address in it: what servers and proxies commonly take of one field. */
const linkMax = 8_192;

/** A header: without an example one of some responses, as a mock would send it with every one. */
function header(description: string, schema: OpenAPIV3.SchemaObject, example?: unknown) {
  const required = example !== undefined;
  return { description, required, schema, ...(required && { example }) };
}

const text = (maxLength: number, more: object = {}) =>
  ({ type: "string", maxLength, ...more }) as const;
const count = (minimum: number) =>
  ({ type: "integer", format: "int32", minimum, maximum: limitMax }) as const;
const seconds = (minimum: number) =>
  ({ type: "integer", format: "int64", minimum, maximum: dateMaxSeconds }) as const;

export const headers = {
  "X-RateLimit-Limit": header(
    "The number of requests that the window allows.",
    count(1),
    publishedLimits.free.perMinute,
  ),
  "X-RateLimit-Remaining": header(
    "The number of requests left in this window.",
    count(0),
    publishedLimits.free.perMinute - 1,
  ),
  "X-RateLimit-Reset": header(
    "When this window ends: a Unix timestamp in seconds.",
    seconds(0),
    Date.UTC(2026, 10, 21, 12, 1) / 1000,
  ),
  "Accept-Encoding": header(
    "Only for a compressed body: the encoding to use (RFC 9110, section 12.5.3).",
    { type: "string", enum: ["identity"] },
  ),
  "Retry-After": header(
    "Whole seconds to wait before the next request (RFC 9110, section 10.2.3).",
    seconds(1),
    42,
  ),
  "WWW-Authenticate": header(
    'The challenge of RFC 6750: `Bearer`, with `error="invalid_token"` when a credential was sent, and with `error="insufficient_scope"` for a read-only key.',
    text(100),
    "Bearer",
  ),
  "X-Request-Id": header(
    "The id of this request in the service's log, for questions to the operator: the `X-Request-Id` of the request, or a new one.",
    text(64, { pattern: "^[A-Za-z0-9_.-]{1,64}$" }),
    "k3v9x2-1a",
  ),
  NextPage: header(
    'Where the next page is: `<URL>; rel="next"` (RFC 8288), such as `<https://pets.example.org/v1/pets?limit=20&after=20>; rel="next"`. Absent on the last page.',
    text(linkMax),
  ),
  Location: header(
    "The address of the animal (RFC 9110, section 10.2.2).",
    text(linkMax),
    "https://pets.example.org/v1/pets/1",
  ),
  "Idempotent-Replayed": header(
    "Only on a repeated request with this Idempotency-Key: nothing new was stored.",
    { type: "string", enum: ["true"] },
  ),
  Successor: header(
    'What replaces this operation: `<URL>; rel="successor-version"` (RFC 5829).',
    text(linkMax),
    '<https://pets.example.org/v1/pets>; rel="successor-version"',
  ),
  Deprecation: header(
    "Since when the operation is deprecated: `@` and a Unix timestamp (RFC 9745).",
    text(20, { pattern: "^@[0-9]+$" }),
    `@${getPetDeprecatedAtMs / 1000}`,
  ),
  Sunset: header(
    "When the operation is removed: an HTTP date (RFC 8594).",
    text(29),
    httpDate(getPetRemovedAtMs),
  ),
} satisfies Record<string, OpenAPIV3.HeaderObject>;

const reference = (name: keyof typeof headers) => ({ $ref: `#/components/headers/${name}` });
const same = (...names: (keyof typeof headers)[]): Headers =>
  Object.fromEntries(names.map((name) => [name, reference(name)]));

export const commonHeaders = same(
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "X-Request-Id",
);
const deprecationHeaders = { ...same("Deprecation", "Sunset"), Link: reference("Successor") };

function response(
  description: string,
  schema: string,
  more: Headers,
  examples: Readonly<Record<string, OpenAPIV3.ExampleObject>>,
): OpenAPIV3.ResponseObject {
  const content = { [jsonType]: { schema: { $ref: `#/components/schemas/${schema}` }, examples } };
  return { description, headers: { ...commonHeaders, ...more }, content };
}

/** A refusal. Of each example its name, what it is about, the message, and another kind. */
function refused(
  kind: ErrorKind,
  examples: Readonly<Record<string, readonly [string, string, ErrorKind?]>>,
  more: Headers = {},
  description: string = meaningOf[kind],
): OpenAPIV3.ResponseObject {
  const shown = Object.entries(examples).map(([name, [summary, message, code = kind]]) => {
    return [name, { summary, value: errorBody({ kind: code, message }) }];
  });
  return response(description, "Error", more, Object.fromEntries(shown));
}

const rex = { id: 1, name: "Rex", categoryId: 1, status: "available" };
const mia = { id: 2, name: "Mia", categoryId: 2, status: "pending" };
/** Added without a status, so it has none. */
const shadow = { id: 3, name: "Shadow", categoryId: 1 };

/** The responses that the operations name (http/pets.ts). */
export const responses = {
  PetsFound: response(
    "A page of animals; an empty array when none matches.",
    "Pets",
    { Link: reference("NextPage") },
    {
      page: { summary: "Three animals", value: [rex, mia, shadow] },
      none: { summary: "No animal matches", value: [] },
    },
  ),
  PetAdded: response(
    "The animal as it was stored, now or by the first request with this Idempotency-Key.",
    "Pet",
    same("Location", "Idempotent-Replayed"),
    { created: { summary: "The new animal", value: rex } },
  ),
  PetFound: response(
    `The animal. The headers say when the operation is removed: ${httpDate(getPetRemovedAtMs)}.`,
    "Pet",
    deprecationHeaders,
    { found: { summary: "An animal", value: rex } },
  ),
  BadQuery: refused(
    "invalid_request",
    {
      limit: ["A limit out of bounds", "limit must be an integer from 1 to 100."],
      status: ["A status that does not exist", "status must be one of available, pending, sold."],
    },
    {},
    "A query parameter is not valid.",
  ),
  BadPet: refused(
    "invalid_request",
    {
      missing: [
        "A required field is missing",
        "categoryId is required: it must be an integer of 64 bits.",
      ],
      invalid: ["A field has an invalid value", "status must be one of available, pending, sold."],
      notJson: ["The body is not JSON", "The body is not valid JSON."],
      otherBody: ["The Idempotency-Key of another animal", otherBody.message],
    },
    {},
    "The body lacks a required field or has an invalid value.",
  ),
  NoSuchPet: refused(
    "not_found",
    { unknown: ["No animal has this id", noSuchPet.message] },
    deprecationHeaders,
    noSuchPet.message,
  ),
  Unauthorized: refused(
    "unauthorized",
    {
      missing: ["No key was sent", unauthorized["no credential"].message],
      invalid: ["The key is unknown, expired or revoked", unauthorized.unknown.message],
    },
    same("WWW-Authenticate"),
  ),
  Forbidden: refused(
    "forbidden",
    { readOnly: ["A read-only key", readOnlyKey.message] },
    same("WWW-Authenticate"),
  ),
  TooManyRequests: refused(
    "rate_limited",
    {
      rateLimited: [
        "The window's requests are used up",
        `The free plan allows ${publishedLimits.free.perMinute} requests per minute, and that limit is reached; try again in 42 s.`,
      ],
      keyBanned: [
        "The key is banned for some time",
        "This key is banned for another 297 s, until 2026-11-21T12:05:00Z, because it went on sending requests after 429 in 3 minutes out of 10. Waiting is enough.",
        "key_banned",
      ],
    },
    same("Retry-After"),
    "A rate limit is exceeded, or the key is banned because it kept sending. Wait as long as `Retry-After` says, and back off exponentially if it happens again.",
  ),
  PayloadTooLarge: refused("payload_too_large", {
    tooLarge: ["A name that is too long for any body", tooLarge],
  }),
  UnsupportedMediaType: refused(
    "unsupported_media_type",
    {
      otherType: [
        "A form instead of JSON",
        `The body must be sent as Content-Type: ${jsonType}, not text/plain.`,
      ],
      compressed: ["A compressed body", encodedBody.message],
    },
    same("Accept-Encoding"),
  ),
  InternalError: refused("internal_error", {
    internal: ["A failure of the service", "Something went wrong on the server; it was logged."],
  }),
  Unavailable: refused(
    "unavailable",
    { unavailable: ["The store is busy", "The request could not be counted at the moment."] },
    same("Retry-After"),
  ),
} as const satisfies Record<string, OpenAPIV3.ResponseObject>;

export const securitySchemes = {
  bearer: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "rehome API key",
    description:
      "The API key that the operator of the service issued: `Authorization: Bearer <API_KEY>`.",
  },
} as const satisfies Record<string, OpenAPIV3.SecuritySchemeObject>;
