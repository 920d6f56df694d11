import { Elysia } from "elysia";
import type { Services } from "../service/services.ts";
import { refusal, refuse } from "./errors.ts";
import { showLimits } from "./headers.ts";
import { atOnce } from "./hooks.ts";
import { recordOf } from "./record.ts";

/**
 * Refuses a request whose Host header is not valid (RFC 9110, section 7.2): nobody can say which address it means, and
 * the router would take a part of the path for the whole. Bun shows such a request by a URL without an origin.
 */
export function hostCheck(services: Services) {
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
