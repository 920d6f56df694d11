import { X509Certificate } from "node:crypto";

/** When a certificate chain (PEM) ends: its first certificate. */
export function certificateEndMs(cert: string): number {
  return new X509Certificate(cert).validToDate.getTime();
}
