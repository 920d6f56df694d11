import { settings, withoutPassword, type Config, type LoadedConfig } from "../config.ts";
import { isLoopback } from "../domain/address.ts";
import type { Logger } from "../service/log.ts";
import type { Services } from "../service/services.ts";

/** Tells the log what an operator should know of the way the service was started. */
export async function warnAtStart(
  loaded: LoadedConfig,
  services: Services,
  log: Logger,
): Promise<void> {
  const { config } = loaded;
  const warn = (warning: string | undefined) => void (warning !== undefined && log.warn(warning));
  warn(passwordWarning(loaded));
  warn(exposureWarning(config));
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
export function exposureWarning({ host, tlsCert, trustedProxy }: Config): string | undefined {
  if (tlsCert !== undefined || trustedProxy.length > 0) return undefined;
  if (host === "localhost" || isLoopback(host)) return undefined;
  return (
    `${host} can be reached from other machines, and the service speaks plain HTTP there: ` +
    "anyone who sees the traffic can read the API keys in it. " +
    "Use --tls-cert and --tls-key, or put a proxy with TLS in front and name it with --trusted-proxy."
  );
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
