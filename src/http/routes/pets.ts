import { Elysia } from "elysia";
import { httpDate } from "../../domain/clock.ts";
import {
  getPetDeprecatedAtMs,
  getPetRemovedAtMs,
  getPetRemovedOn,
  isGetPetRemoved,
  baseUrlOf,
} from "../edge.ts";
import { pageLimit } from "../../domain/page.ts";
import { idempotencyKeyOf, idempotencyKeyRule } from "../../domain/idempotency.ts";
import { petJson, type NewPet, type Pet } from "../../domain/pet.ts";
import type { Services } from "../../service/services.ts";
import { PetAnswers } from "../response-cache.ts";
import { stillStands, unreadableBody } from "../body.ts";
import { recordOf, type RequestRecord } from "../handler.ts";
import { errorAnswer, jsonType, noSuchPet, otherBody, refusal } from "../errors.ts";
import { guard, type GuardOptions } from "../guard.ts";
import type { RouteName } from "../methods.ts";
import { UnsentAnswers, unread } from "../backpressure.ts";
import { answersOf, listQuery, newPetBody, petPath, type PetBody } from "../schemas.ts";

interface PetRoutesOptions extends GuardOptions {
  readonly services: Pick<Services, "access" | "clock" | "pets" | "store">;
  /** The address of /v1 for links; by default the one that the request came to. */
  readonly baseUrl: string | undefined;
}

const getPetPath = "/v1/pets/:petId";

/** True for the route of the operation that is removed one day. */
export function isGetPet({ method, path }: RouteName): boolean {
  return method === "GET" && path === getPetPath;
}

/** RFC 9745 and RFC 8594: since when getPet is deprecated, and when it goes. */
const deprecation = `@${getPetDeprecatedAtMs / 1000}`;
const sunset = httpDate(getPetRemovedAtMs);

// A Blob of this type would come with a charset, which JSON has none of (RFC 8259, section 11).
const headers = new Headers({ "Content-Type": jsonType });
const found = { headers };
const created = { status: 201, headers };

const badIdempotencyKey = refusal("invalid_request", `Idempotency-Key ${idempotencyKeyRule}.`);

/** SHA-256 of the animal, so that two equal bodies compare as equal. */
function fingerprintOf(pet: NewPet): Uint8Array {
  return new Bun.CryptoHasher("sha256").update(petJson({ ...pet, id: 0n })).digest();
}

/** The three operations of the specification. */
export function petRoutes(options: PetRoutesOptions) {
  const { services } = options;
  const { clock } = services;
  const answers = new PetAnswers(services);
  const unsent = new UnsentAnswers();
  const petsUrl = (url: string) => `${baseUrlOf(url, options.baseUrl)}/pets`;

  return new Elysia({ name: "pets" })
    .use(guard(options))
    .get(
      "/v1/pets",
      async ({ query, request }) => {
        const record = recordOf(request);
        const { limit = pageLimit.default } = query;
        const page = await answers.page({ ...query, limit });
        if (!unsent.add(record, page.body)) return errorAnswer(record, unread);
        const response = sent(record, page.body);
        if (page.next !== undefined) {
          response.headers.set("Link", `<${petsUrl(request.url)}?${page.next}>; rel="next"`);
        }
        return response;
      },
      { query: listQuery, response: answersOf<PetBody[]>() },
    )
    .post(
      "/v1/pets",
      async ({ body, headers, request }) => {
        const record = recordOf(request);
        const pet = { ...body, categoryId: BigInt(body.categoryId) };
        const key = headers["idempotency-key"];
        if (key !== undefined) return createOnce(options, request, pet, key);
        const origin = { createdAtMs: clock(), createdBy: record.admission?.key?.id };
        // Bun aborts a request whose body is followed by bytes that belong to no request.
        const id = await services.pets.create({ ...pet, ...origin }, request.signal);
        return added(record, { ...pet, id });
      },
      {
        // Not read yet: the guard comes before the body.
        parse: ({ headers, request }) => ({ headers, request }),
        body: newPetBody,
        response: answersOf<PetBody>(),
      },
    )
    .get(
      getPetPath,
      async ({ params, request }) => {
        const record = recordOf(request);
        const successor = petsUrl(request.url);
        if (isGetPetRemoved(clock())) return errorAnswer(record, removed(successor));
        record.headers = {
          Deprecation: deprecation,
          Sunset: sunset,
          Link: `<${successor}>; rel="successor-version"`,
        };
        const pet = await answers.pet(params.petId);
        return pet === undefined ? errorAnswer(record, noSuchPet) : sent(record, pet.body);
      },
      { params: petPath, response: answersOf<PetBody>() },
    );
}

/** Adds an animal that its caller may send again (draft-ietf-httpapi-idempotency-key-header). */
async function createOnce(
  { services }: PetRoutesOptions,
  request: Request,
  pet: NewPet,
  header: string,
): Promise<Response> {
  const record = recordOf(request);
  if (!(await stillStands(request))) return errorAnswer(record, unreadableBody);
  const value = idempotencyKeyOf(header);
  const keyId = record.admission?.key?.id;
  if (value === undefined || keyId === undefined) return errorAnswer(record, badIdempotencyKey);
  const bodyHash = fingerprintOf(pet);
  const create = { pet, keyId, value, bodyHash, nowMs: services.clock() };
  const { id, outcome } = await services.pets.createOnce(create);
  if (outcome === "other body") return errorAnswer(record, otherBody);
  if (outcome === "repeated") record.headers = { "Idempotent-Replayed": "true" };
  return added(record, { ...pet, id });
}

function added(record: RequestRecord, pet: Pet): Response {
  const text = petJson(pet);
  record.bytes = Buffer.byteLength(text);
  return new Response(text, created);
}

/** Answers with JSON that may be kept: all answers of it share its bytes. */
function sent(record: RequestRecord, body: Blob): Response {
  record.bytes = body.size;
  return new Response(body, found);
}

function removed(successor: string) {
  return refusal(
    "not_found",
    `This operation was removed on ${getPetRemovedOn}; use ${successor} with a status filter.`,
  );
}
