import { Elysia } from "elysia";
import { isGetPetRemoved } from "../edge.ts";
import { guard, type GuardOptions } from "../guard.ts";
import { answerOtherMethod, methodTable, type RouteName } from "../methods.ts";
import { isGetPet } from "./pets.ts";

/**
 * Everything else under /v1. It is behind the guard like the operations, so a 404 and a 405 cost
 * the same and have the same headers.
 */
export function fallbackRoutes(options: GuardOptions, operations: readonly RouteName[]) {
  const methods = methodTable(operations);
  const methodsWithoutGetPet = methodTable(operations.filter((route) => !isGetPet(route)));
  const answer = ({ request }: { request: Request }) => {
    const table = isGetPetRemoved(options.services.clock()) ? methodsWithoutGetPet : methods;
    return answerOtherMethod(table, request, options.cors);
  };
  return new Elysia({ name: "fallback" })
    .use(guard(options))
    .all("/v1", answer)
    .all("/v1/*", answer);
}
