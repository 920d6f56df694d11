import { Elysia } from "elysia";
import { isGetPetRemoved } from "../../domain/deprecation.ts";
import { gate, type GateOptions } from "../gate.ts";
import { answerOtherMethod, methodTable, nothingHere, pathOf, type RouteName } from "../methods.ts";
import { refuse } from "../errors.ts";
import { getPetPath } from "./pets.ts";

/**
 * Everything under /v1 that is no operation. It stands behind the gate like the operations do, so that a 404 and a 405
 * cost what every request costs and carry the same headers.
 */
export function fallbackRoutes(options: GateOptions, operations: readonly RouteName[]) {
  const allowedAt = methodTable(operations);
  const allowedWithoutGetPet = methodTable(operations.filter(({ path }) => path !== getPetPath));
  // The context is destructured in the parameter list on purpose: Elysia reads the handler's source to see which
  // properties it uses, and prepares all of them for one that takes the context whole.
  const answer = ({ request, set }: { request: Request; set: { headers: unknown } }) => {
    const context = { request, set };
    const look = isGetPetRemoved(options.services.clock()) ? allowedWithoutGetPet : allowedAt;
    const allowed = look(pathOf(request.url));
    return allowed === undefined
      ? refuse(context, nothingHere)
      : answerOtherMethod(context, allowed);
  };
  return new Elysia({ name: "fallback" })
    .use(gate(options))
    .all("/v1", answer, { detail: { hide: true } })
    .all("/v1/*", answer, { detail: { hide: true } });
}
