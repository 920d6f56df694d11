/** What the doctor finds of the server: its address, its certificate, its secrets. */
import { statSync } from "node:fs";
import { leadsToLoopback, localHost, reachOf } from "../../../cli/reach.ts";
import { certificateEndMs, readTls } from "../../../cli/tls.ts";
import { settings, type Config, type LoadedConfig } from "../../../config.ts";
import { dayMs, isoSeconds } from "../../../domain/clock.ts";
import { type AppError, shellWord } from "../../../domain/errors.ts";
import { ownership } from "../../../storage/sqlite/folder.ts";
import { userName } from "../../../storage/system.ts";
import type { ListenAddress } from "../../listen-address.ts";
import { backupSettings } from "../backup/settings.ts";
import { fail, failWith, ok, warn, type Finding } from "./finding.ts";

/** What the settings of a server are to a command that asks one. */
export const askedServer = {
  host: "address that the server listens on",
  port: "port that the server listens on",
} as const;

const replyMaxMs = 3_000;

/** What `/ready` answers: that all is well, or an Error body. */
interface Readiness {
  readonly status?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
}

/** An answer of ours, and whether it came over HTTPS; `other` for an answer that is not ours. */
type Reply = { readonly readiness: Readiness; readonly isHttps: boolean } | "other" | undefined;

/**
 * Whether a server answers where the settings say that it listens, within `maxMs` or three seconds.
 */
export async function checkServer(config: Config, maxMs = replyMaxMs): Promise<Finding> {
  return (await examineServer(config, Math.min(maxMs, replyMaxMs))).finding;
}

/** The same, and whether a server answers where other machines reach it. */
export async function checkReach(config: Config): Promise<Finding[]> {
  const { finding, reply } = await examineServer(config, replyMaxMs);
  if (reply === undefined || reply === "other") return [finding];
  const { host, port } = config;
  const { isHttps } = reply;
  const check = "network";
  const reaches = await reachOf({ host, port, isHttps });
  const [first] = reaches;
  if (first === undefined) return [finding, await unreached(host)];
  const silent: string[] = [];
  for (const { origin } of reaches) {
    const found = await asked(origin, AbortSignal.timeout(replyMaxMs));
    if (found === undefined || found === "other") silent.push(origin);
  }
  const detail = reaches.map(({ origin, via }) => `${origin}/v1 (${via})`).join(", ");
  const advice = `From another machine: curl -i ${first.origin}/health`;
  return [
    finding,
    silent.length === 0
      ? { ...ok(check, detail), advice }
      : warn(check, `${silent.join(", ")} does not answer`, "Check the firewall."),
  ];
}

/** Whether the console of the settings answers where they have it. */
export async function checkConsole({ all }: LoadedConfig): Promise<Finding[]> {
  const found = all.find(({ setting }) => setting.flag === "console")?.value;
  const address = found as ListenAddress | undefined;
  if (address === undefined || address.port === 0) return [];
  const place = `${localHost(address.host)}:${address.port}`;
  for (const scheme of ["http", "https"]) {
    const signal = AbortSignal.timeout(replyMaxMs);
    const tls = { rejectUnauthorized: false };
    const asked = fetch(`${scheme}://${place}/`, { signal, tls, redirect: "manual", proxy: false });
    const isThere = await asked.then(
      () => true,
      () => false,
    );
    if (isThere) return [ok("console", `answers on ${place}`)];
  }
  const advice = "Restart the service. Why it ended: journalctl -u rehome.";
  return [warn("console", `nothing answers on ${place}`, advice)];
}

/** Why no other machine reaches what listens on `host`. */
async function unreached(host: string): Promise<Finding> {
  return (await leadsToLoopback(host))
    ? ok("network", `only this machine reaches ${host}; --host 0.0.0.0 opens it`)
    : warn("network", "no network interface is up", "Connect the machine: ip address shows them.");
}

async function examineServer(
  { host, port }: Config,
  maxMs: number,
): Promise<{ finding: Finding; reply?: Reply }> {
  const check = "server";
  if (port === 0) {
    return { finding: warn(check, "--port 0 is any free one", "Name the port with --port.") };
  }
  const address = `${localHost(host)}:${port}`;
  const reply = await askedEitherWay(address, AbortSignal.timeout(maxMs));
  if (reply === undefined) {
    const finding = warn(
      check,
      `nothing answers on ${address}`,
      "Start it (systemctl start rehome, or rehome serve), or name its port with --port. Why it ended: journalctl -u rehome.",
    );
    return { finding };
  }
  if (reply === "other") {
    const what = `what answers on ${address} is not rehome`;
    return { finding: fail(check, what, "Choose another --port."), reply };
  }
  const { readiness } = reply;
  if (readiness.status === "ready") {
    return { finding: ok(check, `answers on ${address} and is ready`), reply };
  }
  const why = `answers on ${address}. ${String(readiness.message)}`;
  return { finding: fail(check, why, "Fix the problem named here."), reply };
}

/** Over HTTP or HTTPS: a server for one may answer the other with an error of its own. */
async function askedEitherWay(address: string, signal: AbortSignal): Promise<Reply> {
  const plain = await asked(`http://${address}`, signal);
  if (plain !== undefined && plain !== "other") return plain;
  return (await asked(`https://${address}`, signal)) ?? plain;
}

/** What `/ready` says there, or undefined when nothing answers. */
async function asked(origin: string, signal: AbortSignal): Promise<Reply> {
  try {
    const reply = await fetch(`${origin}/ready`, {
      signal,
      redirect: "manual",
      // No proxy of the network (http_proxy) reaches this machine's own addresses.
      proxy: false,
      // The certificate has the public name, but this request is local.
      tls: { rejectUnauthorized: false },
    });
    const body = (await reply.json()) as Readiness | null;
    const isOurs = body?.status === "ready" || body?.code === "unavailable";
    return isOurs ? { readiness: body, isHttps: origin.startsWith("https:") } : "other";
  } catch (error) {
    // An answer that is no JSON, in contrast to none.
    return error instanceof SyntaxError ? "other" : undefined;
  }
}

/** Programs that renew certificates do it earlier than this before their end. */
const renewalMs = 14 * dayMs;

/**
 * Whether the next start and reload can use the certificate that the settings name, and how long
 * clients accept it. Empty when the settings name none.
 */
export function checkCertificate(config: Config, nowMs: number): Finding[] {
  const check = "certificate";
  try {
    const tls = readTls(config);
    if (tls === undefined) return [];
    const endMs = certificateEndMs(tls.cert);
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
    const user = userName(process.geteuid?.() ?? 0).replace(/^uid /, "");
    const word = shellWord(file);
    return [warn("secret", detail, `chown ${user} ${word}; chmod 600 ${word}`)];
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
