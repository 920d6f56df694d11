/** The console's pages in this process, without a listener. */
import { consoleHandler } from "../../src/features/console/web/handler.ts";

/** Where the console is asked. */
export const site = "http://127.0.0.1:8090";

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What makes it a form. */
  readonly fields?: Readonly<Record<string, string>> | URLSearchParams;
  readonly address?: string;
  readonly isSecure?: boolean;
}

export type Ask = (path: string, asked?: Asked) => Promise<Response>;

/** A browser of requests, which keeps no cookies. */
export function asking(
  options: Omit<Parameters<typeof consoleHandler>[0], "hosts" | "isBehindProxy">,
): Ask {
  const hosts = { names: ["pets.example.org"], isVouched: false };
  const handle = consoleHandler({ ...options, hosts, isBehindProxy: false });
  return (path, asked = {}) => {
    const { method = asked.fields ? "POST" : "GET", headers, fields } = asked;
    const { address = "192.168.1.5", isSecure = false } = asked;
    const request = new Request(new URL(path, site).href, {
      method,
      headers: { host: new URL(site).host, ...(method === "POST" && { origin: site }), ...headers },
      ...(fields && { body: new URLSearchParams(fields) }),
    });
    return handle(request, { address, isSecure, bePatient: () => undefined });
  };
}

/** The first cookie that an answer sets, as a browser sends it. */
export function cookieOf({ headers }: Response): string {
  return headers.getSetCookie().join().split(";")[0] ?? "";
}
