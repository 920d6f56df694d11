/** Certificates of two servers, first.example and second.example, as files that are exchanged. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";

export const certificates = join(import.meta.dir, "../fixtures/tls");

/** The files of a certificate and its key in a folder, and what puts one in their place. */
export function certificateIn(folder: string) {
  const [cert, key] = [join(folder, "server.crt"), join(folder, "server.key")];
  const use = (name: "first" | "second") => {
    copyFileSync(join(certificates, `${name}.crt`), cert);
    copyFileSync(join(certificates, `${name}.key`), key);
  };
  use("first");
  return { key, use, flags: ["--tls-cert", cert, "--tls-key", key] };
}

/** The name in the certificate that a new connection is shown. */
export function shownName(origin: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const { hostname, port } = new URL(origin);
  const socket = connect({ port: Number(port), host: hostname, rejectUnauthorized: false }, () => {
    resolve(String(socket.getPeerCertificate().subject.CN));
    socket.destroy();
  });
  socket.on("error", reject);
  return promise;
}
