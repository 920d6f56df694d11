import type { Static } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { idempotencyKeyOf, idempotencyKeyRule, idempotencyKeyMax } from "../domain/idempotency.ts";
import { parseInt64 } from "../domain/int64.ts";
import { pageLimit, petJson, type NewPet, type Pet } from "../domain/pet.ts";
import type { Services } from "../service/services.ts";
import { isStillOpen, parseBody, unreadableBody } from "./body.ts";
import { contextOf } from "./context.ts";
import { jsonType, refusal, RefusalError, refuse, respond } from "./errors.ts";
import { ResponseCache } from "./response-cache.ts";
import { listQuery, models, newPet, petPath, refuseRepeated } from "./schemas.ts";
import { httpDate, isoSeconds } from "../domain/clock.ts";

/** Since when the operation getPet is deprecated: version 1.0.0. */
export const getPetDeprecatedAtMs = Date.UTC(2026, 10, 21);
export const getPetRemovedAtMs = Date.UTC(2030, 11, 5);
export const getPetRemovedOn = "5 December 2030";

export function isGetPetRemoved(nowMs: number): boolean {
  return nowMs >= getPetRemovedAtMs;
}

/** RFC 9745 and RFC 8594: since when getPet is deprecated, and when it is removed. */
const deprecated = {
  Deprecation: `@${getPetDeprecatedAtMs / 1000}`,
  Sunset: httpDate(getPetRemovedAtMs),
};

type PetServices = Pick<Services, "clock" | "pets" | "store">;
type PetOperations = ReturnType<typeof petOperations>;

export function petRoutes(operations: () => PetOperations) {
  return (
    new Elysia({ name: "pets" })
      .model(models)
      // No route is served without the guard, wherever the router found it.
      .onTransform(({ request, route }) => {
        const context = contextOf(request);
        context.admitted();
        context.route = route;
      })
      .get("/pets", ({ query, request }) => operations().list(query, request), {
        transform({ query, request }) {
          const refused = refuseRepeated(request.url, query);
          if (refused !== undefined) throw new RefusalError(refused);
        },
        query: listQuery,
        detail: listPets,
      })
      .get("/pets/:petId", ({ params, request }) => operations().get(params.petId, request), {
        params: petPath,
        detail: getPet,
      })
      .onParse(({ request }) => parseBody(request, contextOf(request)))
      .post(
        "/pets",
        ({ body, request }) => operations().add(body, request),
        // "json" tells the document the type of the body that the parser has read.
        { parse: "json", body: newPet, detail: createPet },
      )
  );
}

// A Blob of this type would come with a charset, which JSON has none of (RFC 8259, section 11).
const found = { headers: new Headers({ "Content-Type": jsonType }) };
const created = { ...found, status: 201 };
const foundDeprecated = { headers: new Headers({ "Content-Type": jsonType, ...deprecated }) };

const petsUrl = (request: Request) => `${contextOf(request).baseUrl(request.url)}/pets`;

/** The operations on a store, with what they keep in memory. */
export function petOperations(services: PetServices) {
  const cache = new ResponseCache(services);
  return {
    async list(query: Static<typeof listQuery>, request: Request): Promise<Response> {
      const { after = "", limit = pageLimit.default, status } = query;
      const page = await cache.page({
        limit: Number(limit),
        status,
        after: parseInt64(`${after}`),
      });
      const response = respond(request, page.body, found);
      if (typeof page.next === "string") {
        response.headers.set("Link", `<${petsUrl(request)}?${page.next}>; rel="next"`);
      }
      return response;
    },

    async get(petId: string, request: Request): Promise<Response> {
      const successor = petsUrl(request);
      if (isGetPetRemoved(services.clock())) return refuse(request, removed(successor));
      const link = `<${successor}>; rel="successor-version"`;
      const pet = await cache.pet(parseInt64(petId) ?? 0n);
      if (pet === undefined) return refuse(request, noSuchPet, { ...deprecated, Link: link });
      const response = respond(request, pet.body, foundDeprecated);
      response.headers.set("Link", link);
      return response;
    },

    async add(body: Static<typeof newPet>, request: Request): Promise<Response> {
      const pet = { ...body, categoryId: BigInt(body.categoryId) };
      if (request.headers.has("idempotency-key")) return createOnce(services, request, pet);
      const createdBy = contextOf(request).admitted().key?.id;
      const origin = { createdAtMs: services.clock(), createdBy };
      // Bun aborts a request whose body is followed by bytes that belong to no request.
      const id = await services.pets.create({ ...pet, ...origin }, request.signal);
      return added(request, { ...pet, id });
    },
  };
}

function removed(successor: string) {
  return refusal(
    "not_found",
    `This operation was removed on ${getPetRemovedOn}; use ${successor} with a status filter.`,
  );
}

export const noSuchPet = refusal("not_found", "No animal has this id.");
const badIdempotencyKey = refusal("invalid_request", `Idempotency-Key ${idempotencyKeyRule}.`);
export const otherBody = refusal(
  "invalid_request",
  "This Idempotency-Key came with another body within the last 24 hours; use a new one for another animal.",
);

/** Adds an animal that its caller may send again (draft-ietf-httpapi-idempotency-key-header). */
async function createOnce(services: PetServices, request: Request, pet: NewPet): Promise<Response> {
  if (!(await isStillOpen(request))) return refuse(request, unreadableBody);
  const value = idempotencyKeyOf(request.headers.get("idempotency-key") ?? "");
  const keyId = contextOf(request).admitted().key?.id;
  if (value === undefined || keyId === undefined) return refuse(request, badIdempotencyKey);
  // Two equal animals have the same hash, however their bodies are written.
  const bodyHash = new Bun.CryptoHasher("sha256").update(petJson({ ...pet, id: 0n })).digest();
  const create = { pet, keyId, value, bodyHash, nowMs: services.clock() };
  const { id, outcome } = await services.pets.createOnce(create);
  if (outcome === "other body") return refuse(request, otherBody);
  return added(request, { ...pet, id }, outcome === "repeated");
}

function added(request: Request, pet: Pet, isReplayed = false): Response {
  const response = respond(request, petJson(pet), created);
  response.headers.set("Location", `${petsUrl(request)}/${pet.id}`);
  if (isReplayed) response.headers.set("Idempotent-Replayed", "true");
  return response;
}

/** What the document says of the operations: prose, and references to what several share. */
const response = (name: string) => ({ $ref: `#/components/responses/${name}` });

const anyTime = {
  401: response("Unauthorized"),
  429: response("TooManyRequests"),
  500: response("InternalError"),
  503: response("Unavailable"),
};

const listPets = {
  operationId: "listPets",
  summary: "List animals",
  description:
    'Returns animals in ascending order of their ids, all or those of one status. While more of them match, the `Link` header with `rel="next"` leads to the next page. A client that cannot read headers can pass the id of the last animal of a page as `after` to get the next page, until a page is empty. Other query parameters, such as `page`, `categoryId` and `sort`, are ignored.',
  tags: ["pets"],
  responses: { 200: response("PetsFound"), 400: response("BadQuery"), ...anyTime },
};

const createPet = {
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

const getPet = {
  operationId: "getPet",
  summary: "Get an animal",
  description: `Deprecated. This operation is removed on ${getPetRemovedOn} and returns 404 from then on. Use \`GET /pets\` with a \`status\` filter instead.`,
  tags: ["pets"],
  deprecated: true,
  /** The date as tools that watch for it read it. */
  "x-sunset": isoSeconds(getPetRemovedAtMs).slice(0, "2030-12-05".length),
  responses: { 200: response("PetFound"), 404: response("NoSuchPet"), ...anyTime },
};
