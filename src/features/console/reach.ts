import { networkInterfaces } from "node:os";
import type { Config } from "../../config.ts";
import {
  isEveryAddress,
  isInCidr,
  isLoopback,
  parseAddress,
  parseCidr,
} from "../../domain/address.ts";
import { AppError } from "../../domain/errors.ts";

type Exposure = "loopback" | "private" | "public";

/** RFC 1918, RFC 6598 (carriers and overlays), RFC 3927, RFC 4193 and RFC 4291 (link-local). */
const privateRanges = [
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "100.64.0.0/10",
  "169.254.0.0/16",
  "fc00::/7",
  "fe80::/10",
].flatMap((text) => parseCidr(text) ?? []);

/** Who can reach an address, with or without a zone. Undefined when it is none. */
export function exposureOf(zoned: string): Exposure | undefined {
  const text = zoned.replace(/%.*$/, "");
  const address = parseAddress(text);
  if (address === undefined) return undefined;
  if (isLoopback(text)) return "loopback";
  return privateRanges.some((range) => isInCidr(address, range)) ? "private" : "public";
}

/** Refuses plain HTTP at an address of the internet, and warns where a network can read it. */
export function permit(config: Config, host: string, warn: (message: string) => void): void {
  if (config.tlsCert !== undefined || config.trustedProxy.length > 0) return;
  const exposure = isEveryAddress(host) ? "private" : exposureOf(host);
  if (exposure === "loopback" || isLoopback(host)) return;
  if (exposure === "public") {
    throw new AppError(
      "invalid_request",
      `The console would speak plain HTTP at ${host}, which the internet can reach: anyone who sees the traffic could take over a session.`,
      {
        hint: "Add --tls-cert and --tls-key, or listen on 127.0.0.1 and put a proxy with TLS in front, named with --trusted-proxy.",
      },
    );
  }
  // Of these, requests that come from public addresses are refused.
  warn(
    `The console speaks plain HTTP at ${host}: anyone who sees the traffic in this network can take over a session. ` +
      "Use --tls-cert and --tls-key unless the network is your own.",
  );
}

/** The addresses of this machine; none where the system does not tell them, as in some units. */
function ownAddresses(): string[] {
  try {
    const all = Object.values(networkInterfaces());
    return all.flatMap((each = []) => each.map(({ address }) => address));
  } catch {
    return [];
  }
}

export const isHere = ({ hostname }: URL): boolean =>
  isLoopback(hostname.replace(/^\[(.*)\]$/, "$1"));

/**
 * The origin that people open: where `origin` stands for all addresses, one of this machine. It
 * stays as it is where the system does not tell them, as in a unit; a command then tells.
 */
export function reachableOrigin(origin: string, own = ownAddresses()): string {
  const url = new URL(origin);
  const isForAll = isEveryAddress(url.hostname.replace(/^\[(.*)\]$/, "$1"));
  if (!isForAll || own.length === 0) return origin;
  const isPrivate = (each: string) => !each.includes(":") && exposureOf(each) === "private";
  url.hostname = own.find(isPrivate) ?? "127.0.0.1";
  return url.origin;
}
