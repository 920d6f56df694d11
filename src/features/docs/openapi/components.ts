/** What several operations of the document share: headers, refusals and their examples. */
import type { OpenAPIV3 } from "openapi-types";
import { httpDate } from "../../../domain/clock.ts";
import type { ErrorKind } from "../../../domain/errors.ts";
import { limitMax, publishedLimits } from "../../../domain/plan.ts";
import { bodyLimitBytes } from "../../../http/body.ts";
import { encodedBody, errorBody, jsonType, noSuchPet } from "../../../http/errors.ts";
import { getPetDeprecatedAtMs, getPetRemovedAtMs } from "../../../http/routes/operations.ts";
import { otherBody } from "../../../http/routes/pets.ts";
import { readOnlyKey, unauthorized } from "../../../service/admission.ts";

type Reference = OpenAPIV3.ReferenceObject;
type Headers = Record<string, Reference>;

/** The last instant that a Date can hold (ECMA-262, section 21.4.1.1), in seconds. */
const dateMaxSeconds = 8.64e12;
/** Of a header with an address in it: what servers and proxies commonly take of one field. */
const linkMax = 8_192;

const schemaReference = (name: string): Reference => ({ $ref: `#/components/schemas/${name}` });

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
  const content = { [jsonType]: { schema: schemaReference(schema), examples } };
  return { description, headers: { ...commonHeaders, ...more }, content };
}

/** A refusal. Of each example its name, what it is about, the message, and another kind. */
function refused(
  kind: ErrorKind,
  description: string,
  examples: Readonly<Record<string, readonly [string, string, ErrorKind?]>>,
  more: Headers = {},
): OpenAPIV3.ResponseObject {
  const shown = Object.entries(examples).map(([name, [summary, message, code = kind]]) => {
    return [name, { summary, value: errorBody({ kind: code, message }) }];
  });
  return response(description, "Error", more, Object.fromEntries(shown));
}

const tooLarge = `The body is larger than ${bodyLimitBytes / 1024} KiB.`;
const rex = { id: 1, name: "Rex", categoryId: 1, status: "available" };
const mia = { id: 2, name: "Mia", categoryId: 2, status: "pending" };
/** Added without a status, so it has none. */
const shadow = { id: 3, name: "Shadow", categoryId: 1 };

/** The responses that the operations name (http/routes/operations.ts). */
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
  BadQuery: refused("invalid_request", "A query parameter is not valid.", {
    limit: ["A limit out of bounds", "limit must be an integer from 1 to 100."],
    status: ["A status that does not exist", "status must be one of available, pending, sold."],
  }),
  BadPet: refused("invalid_request", "The body lacks a required field or has an invalid value.", {
    missing: [
      "A required field is missing",
      "categoryId is required: it must be an integer of 64 bits.",
    ],
    invalid: ["A field has an invalid value", "status must be one of available, pending, sold."],
    notJson: ["The body is not JSON", "The body is not valid JSON."],
    otherBody: ["The Idempotency-Key of another animal", otherBody.message],
  }),
  NoSuchPet: refused(
    "not_found",
    noSuchPet.message,
    { unknown: ["No animal has this id", noSuchPet.message] },
    deprecationHeaders,
  ),
  Unauthorized: refused(
    "unauthorized",
    "The API key is missing or invalid. The limit headers show the numbers of the caller's address, never those of a key.",
    {
      missing: ["No key was sent", unauthorized["no credential"].message],
      invalid: ["The key is unknown, expired or revoked", unauthorized.unknown.message],
    },
    same("WWW-Authenticate"),
  ),
  Forbidden: refused(
    "forbidden",
    "The API key is read-only. The request was charged like any other.",
    { readOnly: ["A read-only key", readOnlyKey.message] },
    same("WWW-Authenticate"),
  ),
  TooManyRequests: refused(
    "rate_limited",
    "A rate limit is exceeded, or the key is banned because it kept sending. Wait as long as `Retry-After` says, and back off exponentially if it happens again.",
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
  ),
  PayloadTooLarge: refused("payload_too_large", tooLarge, {
    tooLarge: ["A name that is too long for any body", tooLarge],
  }),
  UnsupportedMediaType: refused(
    "unsupported_media_type",
    `The body is not sent as \`${jsonType}\`, or it is compressed.`,
    {
      otherType: [
        "A form instead of JSON",
        `The body must be sent as Content-Type: ${jsonType}, not text/plain.`,
      ],
      compressed: ["A compressed body", encodedBody.message],
    },
    same("Accept-Encoding"),
  ),
  InternalError: refused("internal_error", "The service failed. The error was logged.", {
    internal: ["A failure of the service", "Something went wrong on the server; it was logged."],
  }),
  Unavailable: refused(
    "unavailable",
    "The service is busy, or its store did not respond in time. Try again after `Retry-After`.",
    {
      unavailable: ["The store is busy", "The request could not be counted at the moment."],
    },
    same("Retry-After"),
  ),
} as const satisfies Record<string, OpenAPIV3.ResponseObject>;

/** How a caller says who it is. */
export const securitySchemes = {
  bearer: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "rehome API key",
    description:
      "The API key that the operator of the service issued: `Authorization: Bearer <API_KEY>`.",
  },
} as const satisfies Record<string, OpenAPIV3.SecuritySchemeObject>;
