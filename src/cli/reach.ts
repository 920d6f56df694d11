import { networkInterfaces } from "node:os";
import { isLoopback, parseAddress } from "../domain/address.ts";

/** Where a server can be asked: its origin, and the network interface that leads there. */
export interface Reach {
  readonly origin: string;
  readonly via: string;
}

const everyAddress = /^(0\.0\.0\.0|::|\*)$/;

/** True for an address that only this machine reaches, or a name that stands for one. */
export async function leadsToLoopback(host: string): Promise<boolean> {
  return isLoopback(await addressOf(host));
}

/** The address that a name stands for. An address stays, and a name that stands for none. */
async function addressOf(host: string): Promise<string> {
  if (parseAddress(host) !== undefined) return host;
  // Loaded where it is wanted: few services listen on a name.
  const { lookup } = await import("node:dns/promises");
  try {
    return (await lookup(host)).address;
  } catch {
    return host;
  }
}

/** True for what stands for all addresses of this machine. */
export function isEveryAddress(host: string): boolean {
  return everyAddress.test(host);
}

/** The host, as a URL has it, by which this machine reaches what listens on `host`. */
export function localHost(host: string): string {
  if (host === "::") return "[::1]";
  return isEveryAddress(host) ? "127.0.0.1" : inUrl(host);
}

function inUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/**
 * Where other machines reach a server on `host` and `port`: one address per network interface if it
 * listens on all. Empty if only this machine reaches it. A firewall is not considered.
 */
export async function reachOf(
  { host, port, isHttps }: { host: string; port: number; isHttps: boolean },
  interfaces: () => ReturnType<typeof networkInterfaces> = networkInterfaces,
): Promise<Reach[]> {
  const on = await addressOf(host);
  if (isLoopback(on)) return [];
  const originOf = (address: string) => {
    const scheme = isHttps ? "https" : "http";
    return new URL(`${scheme}://${inUrl(address)}:${port}`).origin;
  };
  const all = Object.entries(listed(interfaces)).flatMap(([via, addresses = []]) =>
    addresses.filter(({ internal }) => !internal).map((each) => ({ ...each, via })),
  );
  if (!isEveryAddress(on)) {
    const via = all.find(({ address }) => address === on)?.via ?? host;
    return [{ origin: originOf(host), via }];
  }
  return (
    all
      .filter(({ family }) => on !== "0.0.0.0" || family === "IPv4")
      // A link-local address means nothing without the client's own interface.
      .filter(({ address }) => !/^fe[89ab]/i.test(address))
      .map(({ address, via }) => ({ origin: originOf(address), via }))
  );
}

/** A service that may not ask the system for its interfaces, as its unit has it, names none. */
function listed(interfaces: typeof networkInterfaces): ReturnType<typeof networkInterfaces> {
  try {
    return interfaces();
  } catch {
    return {};
  }
}
