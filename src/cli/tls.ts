/** The certificate of the settings, for the service and the console. */
import { readFileSync } from "node:fs";
import type { Config } from "../config.ts";
import { AppError } from "../domain/errors.ts";
import { reasonOf } from "../domain/system-error.ts";
import type { RunningServer, Tls } from "../http/server.ts";
import type { Logger } from "../service/log.ts";

/**
 * The certificate and key that the settings name, or undefined when they name none. Throws AppError
 * in words when one is missing, cannot be read, is not PEM, or does not belong to the other.
 */
export async function tlsOf({ tlsCert, tlsKey }: Config): Promise<Tls | undefined> {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    const [given, missing] =
      tlsKey === undefined ? ["--tls-cert", "--tls-key"] : ["--tls-key", "--tls-cert"];
    throw new AppError("invalid_request", `${given} needs ${missing} beside it.`);
  }
  const cert = read(tlsCert, "--tls-cert");
  const key = read(tlsKey, "--tls-key");
  // Loaded where it is wanted: it takes 4 ms.
  const { createPrivateKey, X509Certificate } = await import("node:crypto");
  const certificate = parse(tlsCert, "a certificate in PEM", () => new X509Certificate(cert));
  const privateKey = parse(tlsKey, "a private key in PEM without a passphrase", () =>
    createPrivateKey(key),
  );
  if (certificate.checkPrivateKey(privateKey)) return { cert, key };
  throw new AppError("invalid_request", `${tlsKey} is not the key of ${tlsCert}.`, {
    hint: "Name the files of one pair. The chain starts with the server's certificate.",
  });
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

function read(file: string, flag: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const message = `The file of ${flag}, ${file}, cannot be read: ${reasonOf(cause)}.`;
    const hint = "Name a file that this user can read.";
    throw new AppError("invalid_request", message, { cause, hint });
  }
}

/** The details of a bad key are left out, because messages end up in logs. */
function parse<T>(file: string, what: string, work: () => T): T {
  try {
    return work();
  } catch {
    const hint = "Convert it with openssl.";
    throw new AppError("invalid_request", `${file} is not ${what}.`, { hint });
  }
}
