import { Elysia } from "elysia";
import { isGetPetRemoved } from "../edge.ts";
import { gate, type GateOptions } from "../gate.ts";
import { answerOtherMethod, methodTable, type RouteName } from "../methods.ts";
import { isGetPet } from "./pets.ts";

/**
 * Everything else under /v1. It is behind the gate like the operations, so a 404 and a 405 cost the
 * same and have the same headers.
 */
export function fallbackRoutes(options: GateOptions, operations: readonly RouteName[]) {
  const methods = methodTable(operations);
  const methodsWithoutGetPet = methodTable(operations.filter((route) => !isGetPet(route)));
  const answer = ({ request }: { request: Request }) => {
    const table = isGetPetRemoved(options.services.clock()) ? methodsWithoutGetPet : methods;
    return answerOtherMethod(table, request, options.cors);
  };
  return new Elysia({ name: "fallback" })
    .use(gate(options))
    .all("/v1", answer)
    .all("/v1/*", answer);
}
