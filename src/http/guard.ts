import { bearer } from "@elysiajs/bearer";
import type { Services } from "../service/services.ts";
import { contextOf, isVersioned } from "./context.ts";
import type { Cors } from "./methods.ts";
import { refusal, refuse } from "./errors.ts";

/**
 * The guard of every request, before the router: a valid Host, and for all under /v1 the caller,
 * its limits (429) and its credential (401). It goes by Elysia's `path`, as the router does.
 */
export function guard({ access }: Pick<Services, "access">, cors: Cors | undefined) {
  const isValidHost = hostCheck();

  // Elysia prepares for each request what it finds named here, and its type leaves `path` out.
  return async ({ path, request }: { readonly path?: string; readonly request: Request }) => {
    if (path === undefined) throw new Error("no path");
    const isValid = isValidHost(request);
    if (isVersioned(isValid ? path : pathOf(request.url))) {
      const context = contextOf(request);
      const address = () => context.address();
      const authorization = request.headers.get("authorization");
      const credential = credentialOf(authorization);
      // A browser sends no credential with a preflight; what does is charged like any request.
      const isPreflight = authorization === null && cors?.isPreflight(request) === true;
      const asked = isPreflight ? access.pass(address) : access.admit(credential, address);
      // Most are decided at once, and to wait for those costs a turn of the microtasks.
      const admission = asked instanceof Promise ? await asked : asked;
      context.admission = admission;
      const { refusal } = admission;
      // RFC 9112, section 3.2: an invalid Host gets 400, with or without a valid credential.
      if (refusal !== undefined && (isValid || refusal.kind !== "unauthorized")) {
        return refuse(request, refusal);
      }
    }
    return isValid ? undefined : refuse(request, invalidHost);
  };
}

const invalidHost = refusal("invalid_request", "The Host header is not valid.");

/** RFC 9110, section 11.4: a scheme in any case, and one space or more before the token. */
const scheme = /^bearer +/i;

// The bearer plugin is the one parser of the header. Its hook is called here: Elysia would run it
// behind the router, and prepare all headers and the query of each request for it.
const readBearer = bearer().event.transform?.[0]?.fn;

/**
 * The credential in an Authorization header, "" if it has none for us, and undefined without the
 * header. The plugin knows one spelling of the scheme, and looks in the query too.
 */
function credentialOf(authorization: string | null): string | undefined {
  // An empty header says no more than none.
  if (!authorization) return undefined;
  const header = authorization.replace(scheme, "Bearer ");
  if (!header.startsWith("Bearer ")) return "";
  const found: unknown = readBearer?.({ headers: { authorization: header }, query: {} });
  const token: unknown = found instanceof Object && "bearer" in found ? found.bearer : "";
  return typeof token === "string" ? token : "";
}

/** The path of a URL that may have no origin, or one that is not valid. */
function pathOf(url: string): string {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("//") + 2);
  const end = url.indexOf("?", start);
  return end === -1 ? url.slice(start) : url.slice(start, end);
}

const hostMax = 255;
/** Where the path must begin at the earliest for the router, in a URL with https://. */
const httpsPathMin = 11;
/** The zone of an IPv6 address (RFC 6874), which names an interface of the caller's machine. */
const zone = /%25[\w.~-]+(?=\])/;

/**
 * Tells whether a Host and its port are valid (RFC 9110, section 7.2), and the router finds the
 * path. The last good origin is cached, because nearly all requests have the same one.
 */
function hostCheck() {
  let known: string | undefined;
  return ({ headers, url }: Request): boolean => {
    const host = headers.get("host") ?? "";
    // Bun joins several (RFC 9112, section 3.2) and takes the first. An invalid one has no origin.
    if (host.length > hostMax || host.includes(",")) return false;
    if (known !== undefined && url.startsWith(known)) return true;
    const pathStart = url.indexOf("/", "https://".length);
    const isReadable =
      url.startsWith("http://") || (url.startsWith("https://") && pathStart >= httpsPathMin);
    const origin = url.slice(0, pathStart + 1);
    if (!isReadable || !URL.canParse(origin.replace(zone, ""))) return false;
    known = origin;
    return true;
  };
}
