import { networkInterfaces } from "node:os";
import { isLoopback, parseAddress } from "../domain/address.ts";

/** True for an address that only this machine reaches, or a name that stands for one. */
export async function leadsToLoopback(host: string): Promise<boolean> {
  return isLoopback(await addressOf(host));
}

/** The address that a name stands for. An address stays, and a name that stands for none. */
export async function addressOf(host: string): Promise<string> {
  if (parseAddress(host) !== undefined) return host;
  // Loaded where it is wanted: few services listen on a name.
  const { lookup } = await import("node:dns/promises");
  try {
    return (await lookup(host)).address;
  } catch {
    return host;
  }
}

/** The network interfaces; none where the system does not tell them, as in some units. */
export function interfacesOf(ask = networkInterfaces): ReturnType<typeof networkInterfaces> {
  try {
    return ask();
  } catch {
    return {};
  }
}
