/** What several operations of the document share: headers, refusals and their examples. */
import type { OpenAPIV3 } from "openapi-types";
import { httpDate } from "../../../domain/clock.ts";
import { getPetDeprecatedAtMs, getPetRemovedAtMs } from "../../../http/edge.ts";
import type { ErrorKind } from "../../../domain/errors.ts";
import { idempotencyKeyMax } from "../../../domain/idempotency.ts";
import { limitMax, publishedLimits } from "../../../domain/plan.ts";
import { readOnlyKey } from "../../../service/admission.ts";
import { bodyLimitBytes } from "../../../http/body.ts";
import { encodedBody, jsonType, statusOf } from "../../../http/errors.ts";

type Reference = OpenAPIV3.ReferenceObject;
type Headers = Record<string, Reference>;
type Examples = Record<string, OpenAPIV3.ExampleObject>;

/** The last instant that a Date can hold (ECMA-262, section 21.4.1.1), in seconds. */
const dateMaxSeconds = 8.64e12;

/** The document's examples all happen in this minute. */
const exampleResetSeconds = Date.UTC(2026, 10, 21, 12, 1) / 1000;

export const schemaReference = (name: string): Reference => ({
  $ref: `#/components/schemas/${name}`,
});
export const responseReference = (name: keyof typeof responses): Reference => ({
  $ref: `#/components/responses/${name}`,
});

/** Of a header with an address in it: what servers and proxies commonly take of one field. */
const linkMaxLength = 8_192;

function count(description: string, bounds: { minimum: number; maximum: number }) {
  return { type: "integer", format: "int32", description, ...bounds } as const;
}

function header(schema: OpenAPIV3.SchemaObject, example: unknown, required = true) {
  const { description = "", ...type } = schema;
  return { description, required, schema: type, ...(example !== undefined && { example }) };
}

/** Every header of an answer that a client may build on. */
export const headers = {
  "X-RateLimit-Limit": header(
    count("The number of requests that the window allows.", { minimum: 1, maximum: limitMax }),
    publishedLimits.free.perMinute,
  ),
  "X-RateLimit-Remaining": header(
    count("The number of requests left in this window.", { minimum: 0, maximum: limitMax }),
    publishedLimits.free.perMinute - 1,
  ),
  "X-RateLimit-Reset": header(
    {
      type: "integer",
      format: "int64",
      description: "When this window ends: a Unix timestamp in seconds.",
      minimum: 0,
      maximum: dateMaxSeconds,
    },
    exampleResetSeconds,
  ),
  "Accept-Encoding": header(
    {
      type: "string",
      enum: ["identity"],
      description: "Only for a compressed body: the encoding to use (RFC 9110, section 12.5.3).",
    },
    "identity",
    false,
  ),
  "Retry-After": header(
    {
      type: "integer",
      format: "int64",
      minimum: 1,
      // An operator may ban a key for as long as they like.
      maximum: dateMaxSeconds,
      description: "Whole seconds to wait before the next request (RFC 9110, section 10.2.3).",
    },
    42,
  ),
  "WWW-Authenticate": header(
    {
      type: "string",
      description:
        'The challenge of RFC 6750: `Bearer`, with `error="invalid_token"` when a credential was sent, and with `error="insufficient_scope"` for a read-only key.',
      maxLength: 100,
    },
    "Bearer",
  ),
  "X-Request-Id": header(
    {
      type: "string",
      description:
        "The id of this request in the service's log, for questions to the operator: the `X-Request-Id` of the request, or a new one.",
      pattern: "^[A-Za-z0-9_.-]{1,64}$",
      maxLength: 64,
    },
    "k3v9x2-1a",
  ),
  NextPage: header(
    {
      type: "string",
      description:
        'Where the next page is: `<URL>; rel="next"` (RFC 8288), such as `<https://pets.example.org/v1/pets?limit=20&after=20>; rel="next"`. Absent on the last page.',
      maxLength: linkMaxLength,
    },
    // Without an example: a mock would send it with every page, and a client that follows it would
    // never end.
    undefined,
    false,
  ),
  Location: header(
    {
      type: "string",
      description: "The address of the animal (RFC 9110, section 10.2.2).",
      maxLength: linkMaxLength,
    },
    "https://pets.example.org/v1/pets/1",
  ),
  "Idempotent-Replayed": header(
    {
      type: "string",
      enum: ["true"],
      description: "Only on a repeated request with this Idempotency-Key: nothing new was stored.",
    },
    // Without an example: a mock would send it, and a test of the contract would ask for it.
    undefined,
    false,
  ),
  Successor: header(
    {
      type: "string",
      description: 'What replaces this operation: `<URL>; rel="successor-version"` (RFC 5829).',
      maxLength: linkMaxLength,
    },
    '<https://pets.example.org/v1/pets>; rel="successor-version"',
  ),
  Deprecation: header(
    {
      type: "string",
      description: "Since when the operation is deprecated: `@` and a Unix timestamp (RFC 9745).",
      pattern: "^@[0-9]+$",
      maxLength: 20,
    },
    `@${getPetDeprecatedAtMs / 1000}`,
  ),
  Sunset: header(
    {
      type: "string",
      description: "When the operation is removed: an HTTP date (RFC 8594).",
      maxLength: 29,
    },
    httpDate(getPetRemovedAtMs),
  ),
} as const satisfies Record<string, OpenAPIV3.HeaderObject>;

/** draft-ietf-httpapi-idempotency-key-header. */
export const idempotencyKeyParameter = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: `A unique key for this request, such as a UUID: at most ${idempotencyKeyMax} visible ASCII characters, with or without quotes around them. For 24 hours, the same key with an equal body gets the first response again.`,
  // Without an example: a tool that sends it with each request would get the first animal again.
  schema: { type: "string", pattern: "^[!-~]+$", minLength: 1, maxLength: idempotencyKeyMax },
} as const satisfies OpenAPIV3.ParameterObject;

function headerReferences(names: Readonly<Record<string, keyof typeof headers>>): Headers {
  return Object.fromEntries(
    Object.entries(names).map(([field, name]) => [field, { $ref: `#/components/headers/${name}` }]),
  );
}

export const commonHeaders = headerReferences({
  "X-RateLimit-Limit": "X-RateLimit-Limit",
  "X-RateLimit-Remaining": "X-RateLimit-Remaining",
  "X-RateLimit-Reset": "X-RateLimit-Reset",
  "X-Request-Id": "X-Request-Id",
});
const retryHeader = headerReferences({ "Retry-After": "Retry-After" });
const challengeHeader = headerReferences({ "WWW-Authenticate": "WWW-Authenticate" });
export const nextPageHeader = headerReferences({ Link: "NextPage" });
export const createdHeaders = headerReferences({
  Location: "Location",
  "Idempotent-Replayed": "Idempotent-Replayed",
});
export const deprecationHeaders = headerReferences({
  Deprecation: "Deprecation",
  Sunset: "Sunset",
  Link: "Successor",
});

/** An Error as an example, under the name `name`. */
export function errorExample(
  kind: ErrorKind,
  summary: string,
  message: string,
): OpenAPIV3.ExampleObject {
  return { summary, value: { code: kind, message, status: statusOf[kind] } };
}

export function errorResponse(
  description: string,
  examples: Examples,
  more: Headers = {},
): OpenAPIV3.ResponseObject {
  return {
    description,
    headers: { ...commonHeaders, ...more },
    content: { [jsonType]: { schema: schemaReference("Error"), examples } },
  };
}

/** The responses that any operation can give, whatever it does. */
export const responses = {
  Unauthorized: errorResponse(
    "The API key is missing or invalid. The limit headers show the numbers of the caller's address, never those of a key.",
    {
      missing: errorExample(
        "unauthorized",
        "No key was sent",
        "This request needs an API key: send the header Authorization: Bearer <API_KEY>.",
      ),
      invalid: errorExample(
        "unauthorized",
        "The key is unknown, expired or revoked",
        "The API key is not valid: it may be mistyped, expired, revoked or replaced.",
      ),
    },
    challengeHeader,
  ),
  Forbidden: errorResponse(
    "The API key is read-only. The request was charged like any other.",
    { readOnly: errorExample("forbidden", "A read-only key", readOnlyKey.message) },
    challengeHeader,
  ),
  TooManyRequests: errorResponse(
    "A rate limit is exceeded, or the key is banned because it kept sending. Wait as long as `Retry-After` says, and back off exponentially if it happens again.",
    {
      rateLimited: errorExample(
        "rate_limited",
        "The window's requests are used up",
        `The free plan allows ${publishedLimits.free.perMinute} requests per minute, and that limit is reached; try again in 42 s.`,
      ),
      keyBanned: errorExample(
        "key_banned",
        "The key is banned for some time",
        "This key is banned for another 297 s, until 2026-11-21T12:05:00Z, because it went on sending requests after 429 in 3 minutes out of 10. Waiting is enough.",
      ),
    },
    retryHeader,
  ),
  PayloadTooLarge: errorResponse(`The body is larger than ${bodyLimitBytes / 1024} KiB.`, {
    tooLarge: errorExample(
      "payload_too_large",
      "A name that is too long for any body",
      `The body is larger than ${bodyLimitBytes / 1024} KiB.`,
    ),
  }),
  UnsupportedMediaType: errorResponse(
    `The body is not sent as \`${jsonType}\`, or it is compressed.`,
    {
      otherType: errorExample(
        "unsupported_media_type",
        "A form instead of JSON",
        `The body must be sent as Content-Type: ${jsonType}, not text/plain.`,
      ),
      compressed: errorExample("unsupported_media_type", "A compressed body", encodedBody.message),
    },
    headerReferences({ "Accept-Encoding": "Accept-Encoding" }),
  ),
  InternalError: errorResponse("The service failed. The error was logged.", {
    internal: errorExample(
      "internal_error",
      "A failure of the service",
      "Something went wrong on the server; it was logged.",
    ),
  }),
  Unavailable: errorResponse(
    "The service is busy, or its store did not respond in time. Try again after `Retry-After`.",
    {
      unavailable: errorExample(
        "unavailable",
        "The store is busy",
        "The request could not be counted at the moment; it was not charged.",
      ),
    },
    retryHeader,
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
