/** The console's pages in this process, without a listener. */
import { expect } from "bun:test";
import { parseCidr } from "../../src/domain/address.ts";
import { consoleHandler, operatorRoutes, staffRoutes } from "../../src/features/console/app.ts";
import type { Actions, ConsoleOptions, Frame } from "../../src/features/console/visit.ts";

/** Where the console is asked. */
export const site = "http://127.0.0.1:8090";
/** A proxy that the console trusts, and what it says of a browser that speaks HTTPS. */
const proxy = "10.0.0.9";

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What makes it a form. */
  readonly fields?: Readonly<Record<string, string>> | URLSearchParams;
  readonly address?: string;
  readonly isSecure?: boolean;
}

export type Ask = (path: string, asked?: Asked) => Promise<Response>;

interface Asking extends Partial<Pick<ConsoleOptions, "report" | "refused">> {
  readonly actions: Partial<Actions>;
  readonly publicOrigin?: string | undefined;
}

/** A browser of requests, which keeps no cookies. A failure fails the test unless it is told. */
export function asking(options: Asking): Ask {
  const handle = consoleHandler({
    publicOrigin: undefined,
    report: (error) => expect(error).toBeUndefined(),
    refused: () => undefined,
    ...options,
    // A test has what its pages call.
    actions: { marks: async () => new Set(), ...options.actions } as Actions,
    names: ["pets.example.org"],
    isTls: false,
    trustedProxies: [parseCidr(proxy)].filter((each) => each !== undefined),
  });
  return async (path, asked = {}) => {
    const { method = asked.fields ? "POST" : "GET", headers, fields } = asked;
    const { address = "192.168.1.5", isSecure = false } = asked;
    const request = new Request(new URL(path, site).href, {
      method,
      headers: {
        host: new URL(site).host,
        ...(method === "POST" && { origin: site }),
        ...(isSecure && { "x-forwarded-for": address, "x-forwarded-proto": "https" }),
        ...headers,
      },
      ...(fields && { body: new URLSearchParams(fields) }),
    });
    const peer = { address: isSecure ? proxy : address };
    return handle(request, { requestIP: () => peer, timeout: () => undefined });
  };
}

/** The addresses of those who are signed in: of everybody, and of operators alone. */
export function addresses() {
  // Nobody asks for anything there.
  const frame = { options: { actions: {} } } as Frame;
  return { staff: staffRoutes(frame).routes, operators: operatorRoutes(frame).routes };
}

/** The first cookie that a response sets, as a browser sends it. */
export function cookieOf({ headers }: Response): string {
  return headers.getSetCookie().join().split(";")[0] ?? "";
}
