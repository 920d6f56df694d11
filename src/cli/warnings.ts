import { settings, withoutPassword, type Config, type LoadedConfig } from "../config.ts";
import { isoSeconds, systemClock } from "../domain/clock.ts";
import type { Tls } from "../http/server.ts";
import type { Logger } from "../service/log.ts";
import type { Services } from "../service/services.ts";
import { leadsToLoopback } from "./reach.ts";

/** Tells the log what an operator should know of the way the service was started. */
export async function warnAtStart(
  loaded: LoadedConfig,
  services: Services,
  log: Logger,
  tls: Tls | undefined,
): Promise<void> {
  const { config } = loaded;
  const warn = (warning: string | undefined) => void (warning !== undefined && log.warn(warning));
  warn(passwordWarning(loaded));
  warn(await exposureWarning(config));
  warn(await certificateWarning(config, tls, systemClock()));
  try {
    warn(await environmentWarning(config, services));
  } catch (error) {
    // The service answers already: a store that fails at this moment is not to end it.
    log.failure(error);
  }
}

/** A warning of a typed address with a password in it, or undefined. */
export function passwordWarning({ config, loadedOf }: LoadedConfig): string | undefined {
  const { store } = config;
  if (loadedOf(settings.store).source !== "flag" || store === undefined) return undefined;
  if (withoutPassword(store) === store) return undefined;
  return (
    "--store has a password, which stays in the shell's history and in the list of processes. " +
    "Put the address into a file with mode 600, and use --store-file."
  );
}

/** A warning of an address that others reach without TLS, or undefined. */
export async function exposureWarning(config: Config): Promise<string | undefined> {
  const { host, tlsCert, trustedProxy } = config;
  if (tlsCert !== undefined || trustedProxy.length > 0) return undefined;
  if (await leadsToLoopback(host)) return undefined;
  return (
    `${host} can be reached from other machines, and the service speaks plain HTTP there: ` +
    "anyone who sees the traffic can read the API keys in it. " +
    "Use --tls-cert and --tls-key, or put a proxy with TLS in front and name it with --trusted-proxy."
  );
}

/**
 * What an operator should know of a certificate that clients refuse. It was read before: a key from
 * a pipe can be read once.
 */
export async function certificateWarning(
  { tlsCert }: Config,
  tls: Tls | undefined,
  nowMs: number,
): Promise<string | undefined> {
  if (tls === undefined) return undefined;
  // Loaded where it is needed: node:crypto takes 4 ms.
  const { certificateEndMs } = await import("./tls.ts");
  const endMs = certificateEndMs(tls.cert);
  if (endMs > nowMs) return undefined;
  return `The certificate in ${tlsCert} ended ${isoSeconds(endMs)}: clients refuse it. Renew it, then send SIGHUP.`;
}

/** What an operator should know of the keys that the service is started on. */
async function environmentWarning(
  { environment }: Config,
  { keys, place }: Services,
): Promise<string | undefined> {
  if (!(await keys.areForeign())) return undefined;
  return (
    `There are keys in ${place}, but none of the ${environment} environment: all of them are refused. ` +
    "Check --environment."
  );
}
