import type { Config } from "../../../config.ts";
import { fail, ok, warn, type Finding } from "./finding.ts";

const answerMaxMs = 3_000;

/** What `/ready` answers, as far as it is needed here: that all is well, or the Error body that says what is not. */
interface Readiness {
  readonly status?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
}

/** Whether a server answers where the settings say that it listens. */
export async function checkServer({ host, port }: Config): Promise<Finding> {
  const check = "server";
  if (port === 0) return warn(check, "--port 0 is any free one", "Name the port with --port.");
  const address = `${reachable(host)}:${port}`;
  const readiness = await askedEitherWay(address);
  if (readiness === undefined) {
    return warn(
      check,
      `nothing answers on ${address}`,
      "Start it with rehome serve; name its port with --port if it is another one.",
    );
  }
  if (readiness === "other") {
    return fail(check, `what answers on ${address} is not rehome`, "Choose another --port.");
  }
  if (readiness.status === "ready") return ok(check, `answers on ${address} and is ready`);
  return fail(
    check,
    `answers on ${address}. ${String(readiness.message)}`,
    "Mend what is named here.",
  );
}

/** An address at which this machine reaches what listens on `host`. */
function reachable(host: string): string {
  if (host === "0.0.0.0" || host === "*") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

/** Over HTTP or HTTPS, whichever is spoken there: a server for the one may answer the other with an error of its own. */
async function askedEitherWay(address: string): Promise<Readiness | "other" | undefined> {
  const plain = await asked(`http://${address}`);
  if (plain !== undefined && plain !== "other") return plain;
  return (await asked(`https://${address}`)) ?? plain;
}

/** What `/ready` says, `other` for an answer that is not ours, undefined when there is none. */
async function asked(origin: string): Promise<Readiness | "other" | undefined> {
  try {
    const answer = await fetch(`${origin}/ready`, {
      signal: AbortSignal.timeout(answerMaxMs),
      redirect: "manual",
      // The name in a certificate is the callers' one, and here the machine asks itself.
      tls: { rejectUnauthorized: false },
    });
    const body = (await answer.json()) as Readiness | null;
    return body?.status === "ready" || body?.code === "unavailable" ? body : "other";
  } catch (error) {
    // An answer that is no JSON, in contrast to none.
    return error instanceof SyntaxError ? "other" : undefined;
  }
}
