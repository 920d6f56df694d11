/** What the document says of the operations: prose, and references to what several share. */
import { httpDate, isoSeconds } from "../../domain/clock.ts";
import { idempotencyKeyMax } from "../../domain/idempotency.ts";

/** Since when the operation getPet is deprecated: version 1.0.0. */
export const getPetDeprecatedAtMs = Date.UTC(2026, 10, 21);
export const getPetRemovedAtMs = Date.UTC(2030, 11, 5);
export const getPetRemovedOn = "5 December 2030";

export function isGetPetRemoved(nowMs: number): boolean {
  return nowMs >= getPetRemovedAtMs;
}

const response = (name: string) => ({ $ref: `#/components/responses/${name}` });

const anyTime = {
  401: response("Unauthorized"),
  429: response("TooManyRequests"),
  500: response("InternalError"),
  503: response("Unavailable"),
};

export const listPets = {
  operationId: "listPets",
  summary: "List animals",
  description:
    'Returns animals in ascending order of their ids, all or those of one status. While more of them match, the `Link` header with `rel="next"` leads to the next page. A client that cannot read headers can pass the id of the last animal of a page as `after` to get the next page, until a page is empty. Other query parameters, such as `page`, `categoryId` and `sort`, are ignored.',
  tags: ["pets"],
  responses: { 200: response("PetsFound"), 400: response("BadQuery"), ...anyTime },
};

export const createPet = {
  operationId: "createPet",
  summary: "Add an animal",
  description:
    "Stores an animal and returns it with its new id. After a 201 it is on the disk. With an `Idempotency-Key`, a client can repeat the request until it gets a response: the animal is stored once.",
  tags: ["pets"],
  parameters: [
    {
      // draft-ietf-httpapi-idempotency-key-header.
      name: "Idempotency-Key",
      in: "header",
      required: false,
      description: `A unique key for this request, such as a UUID: at most ${idempotencyKeyMax} visible ASCII characters. A pair of quotes around them does not count. For 24 hours, the same key with an equal body gets the first response again.`,
      // Without an example: a tool that sends it each time would get the first animal again.
      schema: {
        type: "string" as const,
        pattern: "^[!-~]+$",
        minLength: 1,
        maxLength: idempotencyKeyMax + 2,
      },
    },
  ],
  responses: {
    201: response("PetAdded"),
    400: response("BadPet"),
    403: response("Forbidden"),
    413: response("PayloadTooLarge"),
    415: response("UnsupportedMediaType"),
    ...anyTime,
  },
};

export const getPet = {
  operationId: "getPet",
  summary: "Get an animal",
  description: `Deprecated. This operation is removed on ${getPetRemovedOn} and returns 404 from then on. Use \`GET /pets\` with a \`status\` filter instead.`,
  tags: ["pets"],
  deprecated: true,
  /** The date as tools that watch for it read it. */
  "x-sunset": isoSeconds(getPetRemovedAtMs).slice(0, "2030-12-05".length),
  responses: { 200: response("PetFound"), 404: response("NoSuchPet"), ...anyTime },
};

/** RFC 9745 and RFC 8594: since when getPet is deprecated, and when it is removed. */
export const deprecated = {
  Deprecation: `@${getPetDeprecatedAtMs / 1000}`,
  Sunset: httpDate(getPetRemovedAtMs),
};
