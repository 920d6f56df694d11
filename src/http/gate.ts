import { bearer } from "@elysiajs/bearer";
import { Elysia } from "elysia";
import { clientAddress, type Cidr } from "../domain/address.ts";
import type { WindowView } from "../domain/windows.ts";
import type { Services } from "../service/services.ts";
import type { Cors } from "./cors.ts";
import { jsonType, refuse, type AnswerHeaders } from "./errors.ts";

export interface GateOptions {
  readonly services: Services;
  readonly cors: Cors;
  readonly trustedProxies: readonly Cidr[];
}

/** RFC 9110, section 11.1: the scheme is case-insensitive. The plugin compares it as it is. */
const scheme = /^bearer +(?=\S)/i;
/** The plugin reads a query parameter too, and cannot be told not to. No URL decodes to a lone surrogate. */
const noParameter = "\ud800";

/**
 * The gate that every request under /v1 passes before anything of its body, path or query is looked at: who is calling,
 * is the caller within its limits (else 429), is the credential valid (else 401). What it decides is in the three limit
 * headers of every answer.
 */
export function gate({ services, cors, trustedProxies }: GateOptions) {
  return new Elysia({ name: "gate" })
    .derive({ as: "scoped" }, ({ headers }) => {
      const { authorization } = headers;
      if (authorization !== undefined && !authorization.startsWith("Bearer ")) {
        headers["authorization"] = authorization.replace(scheme, "Bearer ");
      }
      return {};
    })
    .use(bearer({ extract: { header: "Bearer", query: noParameter, body: noParameter } }))
    .derive({ as: "scoped" }, async ({ bearer: credential, headers, request, server, set }) => {
      const address = () => {
        const peer = server?.requestIP(request)?.address;
        return peer && clientAddress(peer, headers["x-forwarded-for"], trustedProxies);
      };
      const answer: AnswerHeaders = set.headers;
      const isPreflight = cors.answer(request, answer);
      const admission = isPreflight
        ? services.access.admitAnonymous(address)
        : await services.access.admit(headers["authorization"] && (credential ?? ""), address);
      answer["content-type"] = jsonType;
      answer["cache-control"] = "no-store";
      showLimits(answer, admission.view);
      if (admission.refusal !== undefined) {
        return refuse(answer, admission.refusal, headers["authorization"] !== undefined);
      }
      return { admission };
    });
}

function showLimits(headers: AnswerHeaders, view: WindowView): void {
  headers["x-ratelimit-limit"] = view.limit;
  headers["x-ratelimit-remaining"] = view.remaining;
  headers["x-ratelimit-reset"] = view.resetSeconds;
}
