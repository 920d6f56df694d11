import type { networkInterfaces } from "node:os";
import { addressOf, interfacesOf } from "../reach.ts";
import { inUrl, isEveryAddress } from "../../cli/reach.ts";
import type { Config } from "../../config.ts";
import { isLoopback } from "../../domain/address.ts";

/**
 * Where other machines reach the server: its origins, and the network interface that leads to each.
 * Empty if only this machine reaches it. A firewall is not considered.
 */
export async function reachOf(
  { host, port, tlsCert }: Pick<Config, "host" | "port" | "tlsCert">,
  interfaces?: typeof networkInterfaces,
): Promise<{ readonly origin: string; readonly via: string }[]> {
  const on = await addressOf(host);
  if (isLoopback(on)) return [];
  const originOf = (address: string) => {
    const scheme = tlsCert === undefined ? "http" : "https";
    return new URL(`${scheme}://${inUrl(address)}:${port}`).origin;
  };
  const all = Object.entries(interfacesOf(interfaces)).flatMap(([via, addresses = []]) =>
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
