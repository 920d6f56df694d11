import { Elysia } from "elysia";
import { httpDate } from "../../domain/clock.ts";
import {
  getPetDeprecatedAtMs,
  getPetRemovedAtMs,
  getPetRemovedOn,
  isGetPetRemoved,
} from "../../domain/deprecation.ts";
import { parseInt64 } from "../../domain/int64.ts";
import { petJson, type NewPet } from "../../domain/pet.ts";
import { baseUrlOf } from "../base-url.ts";
import { decodeObject, encodedBody, readBody, type RawBody } from "../body.ts";
import { refusal, refuse, refuseEarly, type AnswerContext } from "../errors.ts";
import { gate, type GateOptions } from "../gate.ts";
import type { AnswerHeaders } from "../headers.ts";
import { atOnce } from "../hooks.ts";
import type { PetBody } from "../json.ts";
import { noSuchPet } from "../methods.ts";
import { createPetDetail, getPetDetail, listPetsDetail } from "../openapi/operations.ts";
import type { PetAnswers } from "../answers.ts";
import { pageQueryOf, readListQuery } from "../query.ts";
import { ListQuery, NewPetSchema, PetPath } from "../schemas.ts";

export interface PetRoutesOptions extends GateOptions {
  readonly answers: PetAnswers;
  /** The address of /v1 as callers reach it, for links; by default the one that the request came to. */
  readonly baseUrl: string | undefined;
}

/** Where getPet is until it is removed. */
export const getPetPath = "/v1/pets/:petId";

/** RFC 9745 and RFC 8594: since when getPet is deprecated, and when it goes. */
const deprecation = `@${getPetDeprecatedAtMs / 1000}`;
const sunset = httpDate(getPetRemovedAtMs);

/** The three operations of the specification. */
export function petRoutes(options: PetRoutesOptions) {
  const { services, answers } = options;
  const petsUrl = (url: string) => `${baseUrlOf(url, options.baseUrl)}/pets`;

  return new Elysia({ name: "pets", normalize: false })
    .use(gate(options))
    .get(
      "/v1/pets",
      async ({ query, set, request }) => {
        const page = await answers.page(pageQueryOf(query));
        if (page.next !== undefined)
          set.headers["link"] = `<${petsUrl(request.url)}?${page.next}>; rel="next"`;
        return page.body as unknown as PetBody[];
      },
      {
        transform: atOnce(({ request }: AnswerContext) =>
          replaceContext({ query: readListQuery(request.url) }),
        ),
        query: ListQuery,
        detail: listPetsDetail,
      },
    )
    .post(
      "/v1/pets",
      async ({ body, set }) => {
        const { name, categoryId, status } = body;
        const pet: NewPet = { name, categoryId: BigInt(categoryId), status };
        set.status = 201;
        const id = await services.pets.create(pet);
        return petJson({ ...pet, id }) as unknown as PetBody;
      },
      {
        parse: ({ request }) => readBody(request),
        transform: atOnce(decodeBody),
        body: NewPetSchema,
        detail: createPetDetail,
      },
    )
    .get(
      getPetPath,
      async ({ params, request, set }) => {
        const pet = await answers.pet(parseInt64(params.petId) ?? 0n);
        return pet === undefined
          ? refuse({ request, set }, noSuchPet)
          : (pet.body as unknown as PetBody);
      },
      {
        transform: atOnce(({ set, request }: AnswerContext) =>
          deprecate({ request, set }, petsUrl(request.url)),
        ),
        params: PetPath,
        detail: getPetDetail,
      },
    );

  function deprecate(context: AnswerContext, successor: string): void {
    if (isGetPetRemoved(services.clock())) return refuseEarly(context, removed(successor));
    const headers = context.set.headers as AnswerHeaders;
    headers["deprecation"] = deprecation;
    headers["sunset"] = sunset;
    headers["link"] = `<${successor}>; rel="successor-version"`;
    return undefined;
  }
}

function removed(successor: string) {
  return refusal(
    "not_found",
    `This operation was removed on ${getPetRemovedOn}; use ${successor} with a status filter.`,
  );
}

/** Puts the decoded body in place of the raw one, or refuses it. Runs behind the gate and before the schema. */
function decodeBody({
  body,
  headers,
  request,
  set,
}: AnswerContext & { body: unknown; headers: Record<string, string | undefined> }): void {
  const decoded = decodeObject(body as RawBody, headers);
  if (decoded === encodedBody) (set.headers as AnswerHeaders)["Accept-Encoding"] = "identity";
  return "refusal" in decoded
    ? refuseEarly({ request, set }, decoded.refusal)
    : replaceContext({ body: decoded.value });
}

/** Elysia puts what a transform returns into the context, but types it as returning nothing. */
function replaceContext(values: Record<string, unknown>): void {
  return values as unknown as void;
}
