import { parseAddress } from "../domain/address.ts";

/** True for what stands for all addresses of this machine. */
export function isEveryAddress(host: string): boolean {
  return host === "*" || parseAddress(host)?.bits === 0n;
}

/** The host, as a URL has it, by which this machine reaches what listens on `host`. */
export function localHost(host: string): string {
  if (host === "::") return "[::1]";
  return isEveryAddress(host) ? "127.0.0.1" : inUrl(host);
}

/** A host as a URL has it. */
export function inUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
