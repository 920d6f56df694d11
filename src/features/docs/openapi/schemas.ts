/** What the service sends, as the document describes it. http/schemas.ts has what it reads. */
import type { OpenAPIV3 } from "openapi-types";
import { pageLimit } from "../../../domain/page.ts";
import { statusOf } from "../../../http/errors.ts";
import {
  described,
  int64,
  newPetFields,
  newPetSchema,
  objectSchema,
} from "../../../http/schemas.ts";

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

/** The schemas that the document names, each by its title. */
export const namedSchemas = {
  Pet: petSchema,
  NewPet: newPetSchema,
  PetStatus: newPetFields.status.schema,
  Pets: petsSchema,
  Error: errorSchema,
};
