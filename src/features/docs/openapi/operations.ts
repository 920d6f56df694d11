/** What the document says of each operation beyond its route, and the schemas that it names. */
import type { OpenAPIV3 } from "openapi-types";
import { httpDate, isoSeconds } from "../../../domain/clock.ts";
import { getPetRemovedAtMs, getPetRemovedOn } from "../../../http/edge.ts";
import { jsonType, statusOf } from "../../../http/errors.ts";
import {
  described,
  int64,
  newPetFields,
  newPetSchema,
  objectSchema,
} from "../../../http/schemas.ts";
import { pageLimit } from "../../../domain/page.ts";
import { otherBody } from "../../../http/routes/pets.ts";
import {
  deprecationHeaders,
  errorResponse,
  commonHeaders,
  idempotencyKeyParameter,
  nextPageHeader,
  createdHeaders,
  responseReference,
  schemaReference,
} from "./components.ts";

const rex = { id: 1, name: "Rex", categoryId: 1, status: "available" };
const mia = { id: 2, name: "Mia", categoryId: 2, status: "pending" };
/** Added without a status, so it has none. */
const shadow = { id: 3, name: "Shadow", categoryId: 1 };

const anyTime = {
  [statusOf.unauthorized]: responseReference("Unauthorized"),
  [statusOf.rate_limited]: responseReference("TooManyRequests"),
  [statusOf.internal_error]: responseReference("InternalError"),
  [statusOf.unavailable]: responseReference("Unavailable"),
};

const listPets = {
  operationId: "listPets",
  summary: "List animals",
  description:
    'Returns animals in ascending order of their ids, all or those of one status. While more of them match, the `Link` header with `rel="next"` leads to the next page. A client that cannot read headers can pass the id of the last animal of a page as `after` to get the next page, until a page is empty. Other query parameters, such as `page`, `categoryId` and `sort`, are ignored.',
  tags: ["pets"],
  responses: {
    200: {
      description: "A page of animals; an empty array when none matches.",
      headers: { ...commonHeaders, ...nextPageHeader },
      content: {
        [jsonType]: {
          schema: schemaReference("Pets"),
          examples: {
            page: { summary: "Three animals", value: [rex, mia, shadow] },
            none: { summary: "No animal matches", value: [] },
          },
        },
      },
    },
    400: errorResponse("invalid_request", "A query parameter is not valid.", {
      limit: ["A limit out of bounds", "limit must be an integer from 1 to 100."],
      status: ["A status that does not exist", "status must be one of available, pending, sold."],
    }),
    ...anyTime,
  },
};

export const createPetExamples = {
  withStatus: {
    summary: "An animal that is available",
    value: { name: "Rex", categoryId: 1, status: "available" },
  },
  withoutStatus: {
    summary: "Only what is required",
    value: { name: "Shadow", categoryId: 1 },
  },
};

const createPet = {
  operationId: "createPet",
  summary: "Add an animal",
  description:
    "Stores an animal and returns it with its new id. After a 201 it is on the disk. With an `Idempotency-Key`, a client can repeat the request until it gets a response: the animal is stored once.",
  tags: ["pets"],
  parameters: [idempotencyKeyParameter],
  requestBody: {
    required: true,
    content: { [jsonType]: { schema: schemaReference("NewPet"), examples: createPetExamples } },
  },
  responses: {
    201: {
      description:
        "The animal as it was stored, now or by the first request with this Idempotency-Key.",
      headers: { ...commonHeaders, ...createdHeaders },
      content: {
        [jsonType]: {
          schema: schemaReference("Pet"),
          examples: { created: { summary: "The new animal", value: rex } },
        },
      },
    },
    400: errorResponse(
      "invalid_request",
      "The body lacks a required field or has an invalid value.",
      {
        missing: [
          "A required field is missing",
          "categoryId is required: it must be an integer of 64 bits.",
        ],
        invalid: [
          "A field has an invalid value",
          "status must be one of available, pending, sold.",
        ],
        notJson: ["The body is not JSON", "The body is not valid JSON."],
        otherBody: ["The Idempotency-Key of another animal", otherBody.message],
      },
    ),
    [statusOf.forbidden]: responseReference("Forbidden"),
    413: responseReference("PayloadTooLarge"),
    415: responseReference("UnsupportedMediaType"),
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
  responses: {
    200: {
      description: `The animal. The headers say when the operation is removed: ${httpDate(getPetRemovedAtMs)}.`,
      headers: { ...commonHeaders, ...deprecationHeaders },
      content: {
        [jsonType]: {
          schema: schemaReference("Pet"),
          examples: { found: { summary: "An animal", value: rex } },
        },
      },
    },
    404: errorResponse(
      "not_found",
      "No animal has this id.",
      {
        unknown: ["No animal has this id", "No animal has this id."],
      },
      deprecationHeaders,
    ),
    ...anyTime,
  },
};

export const details: Readonly<Record<string, object>> = {
  "get /v1/pets": listPets,
  "post /v1/pets": createPet,
  "get /v1/pets/{petId}": getPet,
};

const petSchema = objectSchema(
  {
    id: described(int64, "Assigned by the service on creation: 1, 2, 3, ... and never reused.", 1),
    ...newPetFields,
  },
  { title: "Pet", description: "An animal. The status is absent if it was added without one." },
);

const petsSchema: OpenAPIV3.SchemaObject = {
  type: "array",
  items: petSchema,
  title: "Pets",
  description: "Animals in ascending order of their ids.",
  maxItems: pageLimit.max,
};

const errorSchema: OpenAPIV3.SchemaObject = {
  type: "object",
  required: ["code", "message", "status"],
  properties: {
    code: {
      type: "string",
      enum: Object.keys(statusOf),
      description: "Machine-readable error code.",
    },
    message: {
      type: "string",
      description: "What is wrong, in one sentence for humans.",
      maxLength: 1_000,
    },
    status: {
      type: "integer",
      format: "int32",
      minimum: Math.min(...Object.values(statusOf)),
      maximum: Math.max(...Object.values(statusOf)),
      description: "The HTTP status code of the response.",
    },
  },
  title: "Error",
  description: "The body of every error.",
};

export const namedSchemas = {
  Pet: petSchema,
  NewPet: newPetSchema,
  PetStatus: newPetFields.status.schema,
  Pets: petsSchema,
  Error: errorSchema,
};
