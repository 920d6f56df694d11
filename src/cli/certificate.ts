/** The certificate of the settings, for the service and the console. */
import type { Config } from "../config.ts";
import type { RunningServer, Tls } from "../http/server.ts";
import type { Logger } from "../service/log.ts";

/** The certificate that the settings name. Loaded where it is wanted: node:crypto takes 4 ms. */
export async function tlsOf(config: Config): Promise<Tls | undefined> {
  if (config.tlsCert === undefined && config.tlsKey === undefined) return undefined;
  const { readTls } = await import("./tls.ts");
  return readTls(config);
}

/** Takes up the certificate in its files. If they are not in order, the one in use stays. */
export async function renewCertificate(
  config: Config,
  server: RunningServer,
  log: Logger,
): Promise<void> {
  try {
    const tls = await tlsOf(config);
    if (tls === undefined) return;
    await server.renew(tls);
    log.info("Reloaded the certificate; new connections use it.");
  } catch (error) {
    log.failure(error);
  }
}
