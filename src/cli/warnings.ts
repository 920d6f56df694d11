import { settings, withoutPassword, type Config, type LoadedConfig } from "../config.ts";
import { isLoopback } from "../domain/address.ts";

/** What an operator should know of the way the service is started. */
export function startWarnings(loaded: LoadedConfig): string[] {
  return [passwordWarning(loaded), exposureWarning(loaded.config)].filter(
    (warning) => warning !== undefined,
  );
}

export function passwordWarning({ config, loadedOf }: LoadedConfig): string | undefined {
  const { store } = config;
  if (loadedOf(settings.store).source !== "flag" || store === undefined) return undefined;
  if (withoutPassword(store) === store) return undefined;
  return (
    "--store has a password, which stays in the shell's history and in the list of processes. " +
    "Put the address into a file with mode 600, and use --store-file."
  );
}

function exposureWarning({ host, tlsCert, trustedProxy }: Config): string | undefined {
  if (tlsCert !== undefined || trustedProxy.length > 0) return undefined;
  if (host === "localhost" || isLoopback(host)) return undefined;
  return (
    `${host} can be reached from other machines, and the service speaks plain HTTP there: ` +
    "anyone who sees the traffic can read the API keys in it. " +
    "Use --tls-cert and --tls-key, or put a proxy with TLS in front and name it with --trusted-proxy."
  );
}
