import { bearer } from "@elysiajs/bearer";
import { Elysia, status } from "elysia";
import type { Admission } from "../service/admission.ts";
import type { Services } from "../service/services.ts";
import type { Cors } from "./cors.ts";
import { refuse } from "./errors.ts";
import { recordOf } from "./record.ts";

export interface GuardOptions {
  readonly services: Pick<Services, "access" | "clock">;
  readonly cors: Cors | undefined;
}

/**
 * The guard of every request under /v1, before its body, path or query is read: the caller, its
 * limits (429), its credential (401). handler.ts puts its decision into the three limit headers.
 */
export function guard({ services, cors }: GuardOptions) {
  return new Elysia({ name: "guard" })
    .use(bearer())
    .derive({ as: "scoped" }, async ({ bearer: token, headers: { authorization }, request }) => {
      const record = recordOf(request);
      const address = () => record.address();
      // A browser sends no credential with a preflight; what does is charged like any request.
      const isPreflight = authorization === undefined && cors?.isPreflight(request) === true;
      record.admission = isPreflight
        ? services.access.pass(address)
        : await services.access.admit(credentialOf(authorization, token), address);
      const { refusal } = record.admission;
      // Elysia ends the request with it, and 200 leaves the status of the response as it is.
      return refusal && status(200, refuse(request, refusal));
    });
}

/** The same decision on a request whose URL the router cannot read, by its headers alone. */
export function admitUnrouted(
  { access }: Pick<Services, "access">,
  request: Request,
): Admission | Promise<Admission> {
  const credential = credentialOf(request.headers.get("authorization") ?? undefined);
  return access.admit(credential, () => recordOf(request).address());
}

/** RFC 9110, section 11.4: a scheme in any case, one space or more, and the token. */
const anyBearer = /^bearer +(?! )/i;

/**
 * The credential in an Authorization header, "" if it has none for us, and undefined without the
 * header. `token` is what the bearer plugin found: it covers one spelling of the scheme, and the
 * query, which is not for credentials.
 */
function credentialOf(authorization: string | undefined, token?: string): string | undefined {
  // An empty header says no more than none.
  if (!authorization) return undefined;
  if (token !== undefined && authorization.startsWith("Bearer ") && !token.startsWith(" ")) {
    return token;
  }
  return anyBearer.test(authorization) ? authorization.replace(anyBearer, "") : "";
}
