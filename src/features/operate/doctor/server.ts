/** What the doctor finds of the server: its address, its certificate, its secrets. */
import { X509Certificate } from "node:crypto";
import { statSync } from "node:fs";
import { localHost } from "../../../domain/address.ts";
import { tlsOf } from "../../../cli/tls.ts";
import { settings, type Config, type LoadedConfig } from "../../../config.ts";
import { dayMs, isoSeconds } from "../../../domain/clock.ts";
import { type AppError, shellWord } from "../../../domain/errors.ts";
import { ownership } from "../permissions.ts";
import { backupSettings } from "../settings.ts";
import { fail, failWith, ok, warn, type Finding } from "./finding.ts";

/** What the settings of a server are to a command that asks one. */
export const askedServer = {
  host: "address that the server listens on",
  port: "port that the server listens on",
} as const;

const replyMaxMs = 3_000;

/** Whether a server answers where the settings say that it listens, within `maxMs`. */
export async function checkServer(
  { host, port }: Pick<Config, "host" | "port">,
  maxMs = replyMaxMs,
): Promise<Finding> {
  const check = "server";
  if (port === 0) return warn(check, "--port 0 is any free one", "Name the port with --port.");
  const address = `${localHost(host)}:${port}`;
  const reply = await readyAt(address, AbortSignal.timeout(Math.min(maxMs, replyMaxMs)));
  if (reply === undefined) {
    const advice =
      "Start it (systemctl start rehome, or rehome serve), or name its port with --port. Why it ended: journalctl -u rehome.";
    return warn(check, `nothing answers on ${address}`, advice);
  }
  if (reply.status === "ready") return ok(check, `answers on ${address} and is ready`);
  if (reply.code === "unavailable") {
    const why = `answers on ${address}. ${String(reply.message)}`;
    return fail(check, why, "Fix the problem named here.");
  }
  return fail(check, `what answers on ${address} is not rehome`, "Choose another --port.");
}

type Readiness = Readonly<Partial<Record<"status" | "code" | "message", unknown>>>;

/** What `/ready` says there, `{}` where another program answers; undefined when nothing does. */
async function readyAt(address: string, signal: AbortSignal): Promise<Readiness | undefined> {
  let other: Readiness | undefined;
  // A server for HTTPS may answer HTTP with an error of its own.
  for (const scheme of ["http", "https"]) {
    try {
      const reply = await askHere(`${scheme}://${address}/ready`, signal);
      const said = ((await reply.json()) ?? {}) as Readiness;
      if (said.status === "ready" || said.code === "unavailable") return said;
      other = {};
    } catch (error) {
      // An answer that is no JSON, in contrast to none.
      if (error instanceof SyntaxError) other = {};
    }
  }
  return other;
}

/** Asks a server of this machine, whose certificate has the public name. */
const askHere = (url: string, signal: AbortSignal): Promise<Response> =>
  fetch(url, {
    signal,
    redirect: "manual",
    // No proxy of the network (http_proxy) reaches this machine's own addresses.
    proxy: false,
    tls: { rejectUnauthorized: false },
  });

/** Programs that renew certificates do it earlier than this before their end. */
const renewalMs = 14 * dayMs;

/**
 * Whether the next start and reload can use the certificate that the settings name, and how long
 * clients accept it. Empty when the settings name none.
 */
export async function checkCertificate(config: Config, nowMs: number): Promise<Finding[]> {
  const check = "certificate";
  try {
    const tls = await tlsOf(config);
    if (tls === undefined) return [];
    const endMs = new X509Certificate(tls.cert).validToDate.getTime();
    const detail = `${config.tlsCert}, valid until ${isoSeconds(endMs)}`;
    const advice = "Renew it, then: systemctl reload rehome";
    if (endMs <= nowMs) return [fail(check, `${detail}: it has ended`, advice)];
    return [endMs < nowMs + renewalMs ? warn(check, detail, advice) : ok(check, detail)];
  } catch (error) {
    return [failWith(check, error as AppError, "Correct --tls-cert and --tls-key.")];
  }
}

/** Files with a password or a private key that every user of this machine can read. */
export function checkSecrets({ valueOf }: Pick<LoadedConfig, "valueOf">): Finding[] {
  return [settings.storeFile, settings.tlsKey, backupSettings.credentials].flatMap((setting) => {
    const file = valueOf(setting);
    if (file === undefined || !isReadByOthers(file)) return [];
    const detail = `every user can read the file of --${setting.flag}, ${file}: it ${ownership(file)}`;
    const advice = `Give it to the account of the service, then: chmod 600 ${shellWord(file)}`;
    return [warn("secret", detail, advice)];
  });
}

function isReadByOthers(file: string): boolean {
  try {
    return (statSync(file).mode & 0o004) !== 0;
  } catch {
    // Another check says why a file cannot be read.
    return false;
  }
}
