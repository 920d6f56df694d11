import { lookup } from "node:dns/promises";
import { networkInterfaces } from "node:os";
import type { Config } from "../../config.ts";
import { isEveryAddress } from "../../cli/reach.ts";
import { isInCidr, isLoopback, parseAddress, parseCidr } from "../../domain/address.ts";
import { AppError } from "../../domain/errors.ts";

/** Who can reach an address: this machine, the networks around it, or everybody. */
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

/**
 * Returns who can reach a listener that is bound to `bound`, the addresses of a host name or
 * `0.0.0.0`, on a machine with the addresses `own`. The widest of them counts.
 */
export function widest(bound: readonly string[], own: readonly string[]): Exposure {
  // "::" takes IPv4 too; 0.0.0.0 takes nothing else.
  const taken = (each: string) => own.filter((one) => each.includes(":") || !one.includes(":"));
  const all = bound
    .flatMap((each) => (isEveryAddress(each) ? taken(each) : [each]))
    .map(exposureOf);
  if (all.includes("public") || all.length === 0 || all.includes(undefined)) return "public";
  return all.includes("private") ? "private" : "loopback";
}

/** Refuses an address that the internet can read, and warns of one that a network can. */
export async function permit(
  config: Config,
  host: string,
  warn: (message: string) => void,
): Promise<void> {
  if (config.tlsCert !== undefined) return;
  const isAddress = exposureOf(host) !== undefined || isEveryAddress(host);
  const bound = isAddress ? [host] : await addressesOf(host);
  if (bound.length === 0) {
    throw new AppError("invalid_request", `The console cannot listen on ${host}: no such host.`, {
      hint: "Give --console an address of this machine, such as 127.0.0.1:8090.",
    });
  }
  const exposure =
    bound.every(isEveryAddress) && ownAddresses().length === 0
      ? // A unit may not ask. Requests in plain HTTP from public addresses are refused anyway.
        "private"
      : widest(bound, ownAddresses());
  if (exposure === "loopback") return;
  if (config.trustedProxy.length > 0) return;
  if (exposure === "public") {
    throw new AppError(
      "invalid_request",
      `The console would speak plain HTTP at ${host}, which the internet can reach: anyone who sees the traffic could take over a session.`,
      {
        hint: "Add --tls-cert and --tls-key, or listen on 127.0.0.1 and put a proxy with TLS in front, named with --trusted-proxy.",
      },
    );
  }
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

/** True for an address that only this machine reaches, or a name that stands for one. */
export async function leadsToLoopback(host: string): Promise<boolean> {
  const addresses = parseAddress(host) === undefined ? await addressesOf(host) : [host];
  return addresses.length > 0 && addresses.every(isLoopback);
}

/** The addresses that a name stands for; none where it stands for nothing. */
async function addressesOf(name: string): Promise<string[]> {
  try {
    return (await lookup(name, { all: true })).map(({ address }) => address);
  } catch {
    return [];
  }
}

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
