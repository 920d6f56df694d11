import { Elysia } from "elysia";
import { httpDate } from "../../domain/clock.ts";
import { idempotencyKeyOf, idempotencyKeyRule } from "../../domain/idempotency.ts";
import { pageLimit } from "../../domain/page.ts";
import { petJson, type NewPet, type Pet } from "../../domain/pet.ts";
import { readOnlyKey } from "../../service/admission.ts";
import type { Services } from "../../service/services.ts";
import { Backpressure, unread } from "../backpressure.ts";
import { isStillOpen, readJson, unreadableBody } from "../body.ts";
import {
  getPetDeprecatedAtMs,
  getPetRemovedAtMs,
  getPetRemovedOn,
  isGetPetRemoved,
} from "../edge.ts";
import { jsonType, noSuchPet, refusal, refuse, respond } from "../errors.ts";
import { guard, type GuardOptions } from "../guard.ts";
import { baseUrlOf, recordOf } from "../record.ts";
import { ResponseCache } from "../response-cache.ts";
import {
  listQuery,
  newPetBody,
  petPath,
  readNewPet,
  responsesOf,
  type PetBody,
} from "../schemas.ts";
import type { RouteName } from "./fallback.ts";

interface PetRoutesOptions extends GuardOptions {
  readonly services: Pick<Services, "access" | "clock" | "pets" | "store">;
}

const getPetPath = "/v1/pets/:petId";

/** True for the route of the operation that is removed one day. */
export function isGetPet({ method, path }: RouteName): boolean {
  return method === "GET" && path === getPetPath;
}

const petsUrl = (request: Request) => `${baseUrlOf(request)}/pets`;

// A Blob of this type would come with a charset, which JSON has none of (RFC 8259, section 11).
const found = { headers: new Headers({ "Content-Type": jsonType }) };

export function petRoutes(options: PetRoutesOptions) {
  const { services } = options;
  const cache = new ResponseCache(services);
  const backpressure = new Backpressure();

  return new Elysia({ name: "pets" })
    .use(guard(options))
    .get(
      "/v1/pets",
      async ({ query, request }) => {
        const page = await cache.page({ ...query, limit: query.limit ?? pageLimit.default });
        if (!backpressure.add(recordOf(request), page.body)) return refuse(request, unread);
        const response = respond(request, page.body, found);
        if (typeof page.next === "string") {
          response.headers.set("Link", `<${petsUrl(request)}?${page.next}>; rel="next"`);
        }
        return response;
      },
      { query: listQuery, response: responsesOf<PetBody[]>() },
    )
    .post(
      "/v1/pets",
      async ({ request }) => {
        const key = recordOf(request).admission?.key;
        if (key?.readOnly === true) return refuse(request, readOnlyKey);
        const sent = await readJson(request);
        if ("refusal" in sent) return refuse(request, sent.refusal);
        const read = readNewPet(sent.value);
        if ("refusal" in read) return refuse(request, read.refusal);
        const pet = { ...read.value, categoryId: BigInt(read.value.categoryId) };
        if (request.headers.has("idempotency-key")) return createOnce(services, request, pet);
        const origin = { createdAtMs: services.clock(), createdBy: key?.id };
        // Bun aborts a request whose body is followed by bytes that belong to no request.
        const id = await services.pets.create({ ...pet, ...origin }, request.signal);
        return added(request, { ...pet, id });
      },
      // Elysia would read the body before the guard.
      { parse: "none", body: newPetBody, response: responsesOf<PetBody>() },
    )
    .get(
      getPetPath,
      async ({ params, request }) => {
        const successor = petsUrl(request);
        if (isGetPetRemoved(services.clock())) return refuse(request, removed(successor));
        const link = `<${successor}>; rel="successor-version"`;
        const pet = await cache.pet(params.petId);
        if (pet === undefined) return refuse(request, noSuchPet, { ...deprecated, Link: link });
        const response = respond(request, pet.body, foundDeprecated);
        response.headers.set("Link", link);
        return response;
      },
      { params: petPath, response: responsesOf<PetBody>() },
    );
}

/** RFC 9745 and RFC 8594: since when getPet is deprecated, and when it is removed. */
const deprecated = {
  Deprecation: `@${getPetDeprecatedAtMs / 1000}`,
  Sunset: httpDate(getPetRemovedAtMs),
};
const foundDeprecated = { headers: new Headers({ "Content-Type": jsonType, ...deprecated }) };

function removed(successor: string) {
  return refusal(
    "not_found",
    `This operation was removed on ${getPetRemovedOn}; use ${successor} with a status filter.`,
  );
}

const badIdempotencyKey = refusal("invalid_request", `Idempotency-Key ${idempotencyKeyRule}.`);
/** The refusal of a create with the Idempotency-Key of another animal. */
export const otherBody = refusal(
  "invalid_request",
  "This Idempotency-Key came with another body within the last 24 hours; use a new one for another animal.",
);

/** Adds an animal that its caller may send again (draft-ietf-httpapi-idempotency-key-header). */
async function createOnce(
  services: PetRoutesOptions["services"],
  request: Request,
  pet: NewPet,
): Promise<Response> {
  if (!(await isStillOpen(request))) return refuse(request, unreadableBody);
  const value = idempotencyKeyOf(request.headers.get("idempotency-key") ?? "");
  const keyId = recordOf(request).admission?.key?.id;
  if (value === undefined || keyId === undefined) return refuse(request, badIdempotencyKey);
  // Two equal animals have the same hash, however their bodies are written.
  const bodyHash = new Bun.CryptoHasher("sha256").update(petJson({ ...pet, id: 0n })).digest();
  const create = { pet, keyId, value, bodyHash, nowMs: services.clock() };
  const { id, outcome } = await services.pets.createOnce(create);
  if (outcome === "other body") return refuse(request, otherBody);
  return added(request, { ...pet, id }, outcome === "repeated");
}

function added(request: Request, pet: Pet, isReplayed = false): Response {
  const headers = {
    "Content-Type": jsonType,
    Location: `${petsUrl(request)}/${pet.id}`,
    ...(isReplayed && { "Idempotent-Replayed": "true" }),
  };
  return respond(request, petJson(pet), { status: 201, headers });
}
