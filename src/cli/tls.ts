import { createPrivateKey, X509Certificate, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Config } from "../config.ts";
import { AppError, shellWord } from "../domain/errors.ts";
import { reasonOf } from "../domain/system-error.ts";
import type { Tls } from "../http/server.ts";

/**
 * The certificate and key that the settings name, or undefined when they name none. Throws AppError
 * in words when one is missing, cannot be read, is not PEM, or does not belong to the other.
 */
export function readTls({ tlsCert, tlsKey }: Config): Tls | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    const [given, missing] =
      tlsKey === undefined ? ["--tls-cert", "--tls-key"] : ["--tls-key", "--tls-cert"];
    throw new AppError("invalid_request", `${given} needs ${missing} beside it.`);
  }
  const cert = read(tlsCert, "--tls-cert");
  const key = read(tlsKey, "--tls-key");
  const certificate = parse(() => new X509Certificate(cert), tlsCert, {
    what: "a certificate in PEM",
    remedy: "openssl x509 -inform der",
  });
  const privateKey = parse((): KeyObject => createPrivateKey(key), tlsKey, {
    what: "a private key in PEM without a passphrase",
    remedy: "openssl pkey",
  });
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new AppError("invalid_request", `${tlsKey} is not the key of ${tlsCert}.`, {
      hint: "Name the files of one pair. The chain starts with the server's certificate.",
    });
  }
  return { cert, key };
}

function read(file: string, flag: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new AppError(
      "invalid_request",
      `The file of ${flag}, ${file}, cannot be read: ${reasonOf(error)}.`,
      {
        cause: error,
        hint: "Name a file that this user can read.",
      },
    );
  }
}

/** The details of a bad key are left out, because messages end up in logs. */
function parse<T>(
  work: () => T,
  file: string,
  { what, remedy }: { what: string; remedy: string },
): T {
  try {
    return work();
  } catch {
    throw new AppError("invalid_request", `${file} is not ${what}.`, {
      hint: `${remedy} -in ${shellWord(file)} -out NEW.pem`,
    });
  }
}
