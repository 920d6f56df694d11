import { lookup } from "node:dns/promises";
import { networkInterfaces } from "node:os";
import type { LoadedConfig } from "../../config.ts";
import { AppError } from "../../domain/errors.ts";
import { exposureOf, isUnspecified, widest } from "./exposure.ts";
import { consoleSetting } from "./settings.ts";

/** The addresses of a host name. Throws AppError when it has none. */
async function resolved(host: string): Promise<string[]> {
  try {
    return (await lookup(host, { all: true })).map((each) => each.address);
  } catch (error) {
    throw new AppError("invalid_request", `The console cannot listen on ${host}: no such host.`, {
      cause: error,
      hint: "Give --console an address of this machine, such as 127.0.0.1:8090.",
    });
  }
}

/** Refuses an address that the internet can read, and warns of one that a network can. */
export async function permit(loaded: LoadedConfig, warn: (message: string) => void): Promise<void> {
  const { config } = loaded;
  const address = loaded.valueOf(consoleSetting);
  if (address === undefined || config.tlsCert !== undefined) return;
  const { host } = address;
  const bound =
    exposureOf(host) === undefined && !isUnspecified(host) ? await resolved(host) : [host];
  const exposure =
    bound.every(isUnspecified) && ownAddresses().length === 0
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

/** The addresses of this machine; none where the system does not tell, as in some units. */
function ownAddresses(): string[] {
  try {
    return addressesOf(networkInterfaces());
  } catch {
    return [];
  }
}

function addressesOf(interfaces: ReturnType<typeof networkInterfaces>): string[] {
  return Object.values(interfaces).flatMap((all = []) => all.map(({ address }) => address));
}

/**
 * The origin that people open: where `origin` stands for all addresses, one of this machine. It
 * stays as it is where the system does not tell them, as in a unit; a command then tells.
 */
export function reachableOrigin(origin: string, own = ownAddresses()): string {
  const url = new URL(origin);
  const isForAll = isUnspecified(url.hostname.replace(/^\[(.*)\]$/, "$1"));
  if (!isForAll || own.length === 0) return origin;
  const isPrivate = (each: string) => !each.includes(":") && exposureOf(each) === "private";
  url.hostname = own.find(isPrivate) ?? "127.0.0.1";
  return url.origin;
}
