import { bearer } from "@elysiajs/bearer";
import { Elysia } from "elysia";
import type { WindowView } from "../domain/windows.ts";
import type { Services } from "../service/services.ts";
import type { Cors } from "./cors.ts";
import { jsonType, refusal, refuse } from "./errors.ts";
import { atOnce, derivesAtOnce } from "./hooks.ts";
import type { AnswerHeaders } from "./headers.ts";
import { recordOf } from "./record.ts";

export interface GateOptions {
  readonly services: Services;
  readonly cors: Cors;
}

/** RFC 9110, section 11.4: a scheme in any case, one space or more, and the token. */
const anyBearer = /^bearer +(?! )/i;
/**
 * Refuses a request whose Host header is not valid (RFC 9110, section 7.2): nobody can say which address it means, and
 * the router would take a part of the path for the whole. Bun shows such a request by a URL without an origin.
 */
export function hostCheck({ services }: Pick<GateOptions, "services">) {
  const isRoutable = urlCheck();
  return new Elysia({ name: "host-check" }).onRequest(
    atOnce(({ request, set }) => {
      if (isRoutable(request.url)) return undefined;
      const record = recordOf(request);
      record.admission = services.access.admitAnonymous(() => record.address());
      const { view, refusal: limited } = record.admission;
      showLimits(set.headers, view);
      set.headers["cache-control"] = "no-store";
      return refuse(
        { request, set },
        limited ?? refusal("invalid_request", "The Host header is not valid."),
      );
    }),
  );
}

/** Where the path must begin at the earliest for the router to find it, in a URL that begins with https://. */
const httpsPathMin = 11;

/**
 * A check that is false for a URL whose path the router would take from the wrong place (there is no host in it, or too
 * short a one), and for one whose host or port is none: whoever takes it apart would fail. Nearly all requests name the
 * same host, so the last one that was good is kept.
 */
function urlCheck(): (url: string) => boolean {
  let knownOrigin: string | undefined;
  return (url) => {
    if (knownOrigin !== undefined && url.startsWith(knownOrigin)) return true;
    const pathStart = url.indexOf("/", "https://".length);
    const isRoutable =
      url.startsWith("http://") || (url.startsWith("https://") && pathStart >= httpsPathMin);
    const origin = url.slice(0, pathStart + 1);
    if (!isRoutable || !URL.canParse(origin)) return false;
    knownOrigin = origin;
    return true;
  };
}

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

function showLimits(headers: AnswerHeaders, view: WindowView): void {
  headers["X-RateLimit-Limit"] = view.limit;
  headers["X-RateLimit-Remaining"] = view.remaining;
  headers["X-RateLimit-Reset"] = view.resetSeconds;
}
