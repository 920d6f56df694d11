import { type TSchema } from "@sinclair/typebox";
import { Elysia, ValidationError } from "elysia";
import { AppError } from "../domain/errors.ts";
import type { Refusal } from "../service/admission.ts";
import { refusal, refuse } from "./errors.ts";
import { answerOtherMethod, noSuchPet, nothingHere, pathOf, type MethodTable } from "./methods.ts";
import { recordOf } from "./record.ts";
import { ruleOf } from "./schemas.ts";

declare global {
  interface BigInt {
    toJSON(): unknown;
  }
}

/** Elysia's ValidationError puts the refused value through JSON.stringify, which throws on a bigint without this. */
BigInt.prototype.toJSON = function toJSON(this: bigint) {
  return JSON.rawJSON(this.toString());
};

/**
 * Turns whatever is thrown on the way into the Error body. Nothing of an unknown error reaches the caller; `report`
 * gets it for the operator. `openMethods` knows the addresses outside of /v1: the fallback answers for those within.
 */
export function failures(report: (error: unknown) => void, openMethods: MethodTable) {
  return new Elysia({ name: "failures" }).onError(
    { as: "global" },
    ({ error, code, request, route, set }) => {
      // The handler may have set 201 already; `refuse` sends a whole Response, which needs 200 here.
      set.status = 200;
      // A body that could not be read ends the request before its route is noted.
      recordOf(request).route ??= route || undefined;
      const allowed = code === "NOT_FOUND" ? openMethods(pathOf(request.url)) : undefined;
      if (allowed !== undefined) return answerOtherMethod({ request, set }, allowed);
      return refuse({ request, set }, refusalOf(error, code, report));
    },
  );
}

function refusalOf(error: unknown, code: unknown, report: (error: unknown) => void): Refusal {
  if (error instanceof ValidationError) return invalid(error);
  if (error instanceof AppError) {
    if (error.kind === "internal_error" || error.kind === "unavailable") report(error);
    return { kind: error.kind, message: error.message, retryAfterSeconds: error.retryAfterSeconds };
  }
  if (code === "NOT_FOUND") return nothingHere;
  if (code === "PARSE") return refusal("invalid_request", "The body could not be read.");
  report(error);
  return refusal("internal_error", "Something went wrong on the server; it was logged.");
}

/** Names the first field that breaks its schema, and its rule. An id that is none belongs to no animal. */
function invalid(error: ValidationError): Refusal {
  if (error.type === "params") return noSuchPet;
  const { path, schema, value } = firstError(error);
  const field = path.slice(1) || "The request";
  if (error.type === "query" && Array.isArray(value)) {
    return refusal("invalid_request", `${field} may be given only once.`);
  }
  const rule = ruleOf(schema);
  return refusal(
    "invalid_request",
    value === undefined ? `${field} is required: it ${rule}.` : `${field} ${rule}.`,
  );
}

function firstError(error: ValidationError): { path: string; schema: TSchema; value: unknown } {
  const first = error.valueError as { path: string; schema: TSchema; value: unknown } | undefined;
  if (first === undefined) throw error;
  return first;
}
