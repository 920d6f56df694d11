import {
  isInCidr,
  parseAddress,
  parseCidr,
  type Address,
  type Cidr,
} from "../../domain/address.ts";

/** Who can reach an address: this machine, the networks around it, or everybody. */
type Exposure = "loopback" | "private" | "public";

const ranges = (...texts: readonly string[]): readonly Cidr[] =>
  texts.map(parseCidr).filter((range) => range !== undefined);

const loopbackRanges = ranges("127.0.0.0/8", "::1");
/** RFC 1918, RFC 6598 (carriers and overlays), RFC 3927, RFC 4193 and RFC 4291 (link-local). */
const privateRanges = ranges(
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "100.64.0.0/10",
  "169.254.0.0/16",
  "fc00::/7",
  "fe80::/10",
);
const unspecifiedRanges = ranges("0.0.0.0", "::");

const isInAny = (address: Address, list: readonly Cidr[]) =>
  list.some((range) => isInCidr(address, range));

/** Who can reach the address `text`, with or without a zone. Undefined when it is none. */
export function exposureOf(text: string): Exposure | undefined {
  const address = parseAddress(text.replace(/%.*$/, ""));
  if (address === undefined) return undefined;
  if (isInAny(address, loopbackRanges)) return "loopback";
  return isInAny(address, privateRanges) ? "private" : "public";
}

/** True for the address that stands for all addresses of the machine. */
export function isUnspecified(text: string): boolean {
  const address = parseAddress(text);
  return address !== undefined && isInAny(address, unspecifiedRanges);
}

/**
 * Returns who can reach a listener that is bound to `bound`, the addresses of a host name or
 * `0.0.0.0`, on a machine with the addresses `own`. The widest of them counts.
 */
export function widest(bound: readonly string[], own: readonly string[]): Exposure {
  // "::" takes IPv4 too; 0.0.0.0 takes nothing else.
  const taken = (each: string) => own.filter((one) => each.includes(":") || !one.includes(":"));
  const all = bound.flatMap((each) => (isUnspecified(each) ? taken(each) : [each])).map(exposureOf);
  if (all.includes("public") || all.length === 0 || all.includes(undefined)) return "public";
  return all.includes("private") ? "private" : "loopback";
}
