/** Prism between a test and the service: it holds every request and every answer against a document. */
import { installTools, startTool } from "./tools.ts";

export interface Violation {
  readonly location: readonly string[];
  readonly severity: string;
  readonly code?: string | number;
  readonly message: string;
}

export interface ValidatingProxy {
  readonly origin: string;
  stop(): Promise<void>;
}

const startTimeoutMs = 30_000;

/** Starts Prism on a free port, as a proxy to `target` that judges by the document in `file`. */
export async function startProxy(file: string, target: string): Promise<ValidatingProxy> {
  await installTools();
  const port = freePort();
  const child = startTool(
    "prism",
    "proxy",
    "--host",
    "127.0.0.1",
    "--port",
    String(port),
    file,
    target,
  );
  let output = "";
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  const deadline = setTimeout(
    () => reject(new Error(`Prism did not start:\n${output}`)),
    startTimeoutMs,
  );
  const gathered = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout as unknown as AsyncIterable<Uint8Array>) {
      output += decoder.decode(chunk, { stream: true });
      if (output.includes("Prism is listening")) resolve();
    }
    reject(new Error(`Prism ended:\n${output}`));
  })();
  await listening.finally(() => clearTimeout(deadline));
  return {
    origin: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill();
      await child.exited;
      await gathered;
    },
  };
}

/** A port that nobody listens on. */
function freePort(): number {
  const probe = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = probe;
  probe.stop(true);
  return port;
}

/** What Prism found wrong with a request and with the answer to it. */
export function violationsOf(answer: Response): { request: Violation[]; response: Violation[] } {
  const all = JSON.parse(answer.headers.get("sl-violations") ?? "[]") as Violation[];
  return {
    request: all.filter(({ location }) => location[0] === "request"),
    response: all.filter(({ location }) => location[0] === "response"),
  };
}
