import { bearer } from "@elysiajs/bearer";
import { Elysia } from "elysia";
import type { Services } from "../service/services.ts";
import type { Cors } from "./cors.ts";
import { jsonType, refuse } from "./errors.ts";
import { derivesAtOnce } from "./hooks.ts";
import { showLimits, type AnswerHeaders } from "./headers.ts";
import { recordOf } from "./record.ts";

export interface GateOptions {
  readonly services: Services;
  readonly cors: Cors;
}

/** RFC 9110, section 11.4: a scheme in any case, one space or more, and the token. */
const anyBearer = /^bearer +(?! )/i;

/**
 * The gate that every request under /v1 passes before anything of its body, path or query is looked at: who is calling,
 * is the caller within its limits (else 429), is the credential valid (else 401). What it decides is in the three limit
 * headers of every answer.
 */
export function gate({ services, cors }: GateOptions) {
  return new Elysia({ name: "gate" })
    .use(derivesAtOnce(bearer()))
    .derive({ as: "scoped" }, async ({ bearer: token, headers, request, route, set }) => {
      const record = recordOf(request);
      record.route = route;
      const address = () => record.address();
      const answer: AnswerHeaders = set.headers;
      const { authorization } = headers;
      // A browser sends no credential with a preflight; whoever does is charged like anybody.
      const isPreflight = cors.answer(request, answer) && authorization === undefined;
      const admission = isPreflight
        ? services.access.admitAnonymous(address)
        : await services.access.admit(credentialOf(authorization, token), address);
      answer["content-type"] = jsonType;
      answer["cache-control"] = "no-store";
      showLimits(answer, admission.view);
      record.admission = admission;
      if (admission.refusal !== undefined) {
        return refuse({ request, set }, admission.refusal, authorization !== undefined);
      }
      return undefined;
    });
}

/**
 * The credential in an Authorization header, "" where it holds none for us, and undefined where there is no header.
 * `token` is what the plugin found: it knows one case of the scheme and one space behind it.
 */
function credentialOf(authorization: string | undefined, token: string | undefined) {
  if (authorization === undefined) return undefined;
  if (token !== undefined && authorization.startsWith("Bearer ") && !token.startsWith(" ")) {
    return token;
  }
  return anyBearer.test(authorization) ? authorization.replace(anyBearer, "") : "";
}
