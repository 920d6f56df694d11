/**
 * With `TEST_PROXY` every server that a test starts is reached through a proxy that judges its
 * answers: see test/tools/prism.test.ts. What is served over HTTPS cannot be read on its way and is
 * reached directly.
 */
const control = process.env["TEST_PROXY"];

/** Which port a server listens on, by the proxy's that leads to it. */
const serverPorts = new Map<string, string>();

/** Asks at `askedFor` for a proxy to the server at `origin`. Resolves with its origin. */
export async function proxyTo(origin: string, askedFor: string): Promise<string> {
  const answer = await fetch(askedFor, { method: "POST", body: origin });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`no proxy to ${origin}: ${text}`);
  return text;
}

/** The origin by which a test reaches the server at `origin`. */
export async function behindProxy(origin: string): Promise<string> {
  if (control === undefined || !origin.startsWith("http:")) return origin;
  const proxied = await proxyTo(origin, control);
  serverPorts.set(new URL(proxied).port, new URL(origin).port);
  return proxied;
}

/** The origin of the server itself, for bytes that are no request and get an answer of Bun's. */
export function directly(origin: string): string {
  const { protocol, hostname, port } = new URL(origin);
  return `${protocol}//${hostname}:${serverPorts.get(port) ?? port}`;
}

/** The arguments of a server that shares the port of one that a test knows by its proxy. */
export function beyondProxy(args: readonly string[]): readonly string[] {
  const at = args.lastIndexOf("--port") + 1;
  const port = at === 0 ? undefined : serverPorts.get(args[at] ?? "");
  return port === undefined ? args : args.with(at, port);
}
