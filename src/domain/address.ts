/** Internet addresses as bits, IPv4 as 32, IPv6 as 128: as text an address has many spellings. */
export interface Address {
  readonly family: 4 | 6;
  readonly bits: bigint;
}

const mappedPrefix = 0xffffn;

/**
 * Parses an IPv4 dotted quad or an IPv6 address (RFC 4291, section 2.2). An IPv4-mapped one
 * (`::ffff:a.b.c.d`) is IPv4.
 */
export function parseAddress(text: string): Address | undefined {
  if (!text.includes(":")) {
    const bits = parseQuad(text);
    return bits === undefined ? undefined : { family: 4, bits };
  }
  const bits = parseIpv6(text);
  if (bits === undefined) return undefined;
  return bits >> 32n === mappedPrefix
    ? { family: 4, bits: bits & 0xffffffffn }
    : { family: 6, bits };
}

function parseQuad(text: string): bigint | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  let bits = 0n;
  for (const part of parts) {
    if (!/^(?:0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
    bits = (bits << 8n) | BigInt(part);
  }
  return bits;
}

function parseIpv6(text: string): bigint | undefined {
  const inGroups = (quad: string) => {
    const bits = parseQuad(quad);
    return bits === undefined
      ? quad
      : `${(bits >> 16n).toString(16)}:${(bits & 0xffffn).toString(16)}`;
  };
  const [head = [], tail, ...more] = text
    .replace(/(?<=:)\d+\.[\d.]*$/, inGroups)
    .split("::")
    .map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - head.length - (tail?.length ?? 0);
  if (more.length > 0 || (tail === undefined ? missing !== 0 : missing < 1)) return undefined;
  const groups = [...head, ...Array<string>(missing).fill("0"), ...(tail ?? [])];
  if (!groups.every((group) => /^[\da-f]{1,4}$/i.test(group))) return undefined;
  return groups.reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}

/**
 * Who shares a bucket with an address: IPv4 has its own, IPv6 that of its subscriber's /64.
 * Undefined if the text is no address.
 */
export function bucketOf(text: string | undefined): string | undefined {
  const address = text === undefined ? undefined : parseAddress(text);
  if (address === undefined) return undefined;
  const { bits, family } = address;
  return `${family}/${(family === 4 ? bits : bits >> 64n).toString(36)}`;
}

/** A range of addresses: all that share the first `prefixLength` bits. */
export interface Cidr {
  readonly address: Address;
  readonly prefixLength: number;
}

/** Parses `ADDRESS/LENGTH` (RFC 4632), or an address alone for the range that holds only it. */
export function parseCidr(text: string): Cidr | undefined {
  const [addressText = "", lengthText, ...rest] = text.split("/");
  const address = parseAddress(addressText);
  if (address === undefined || rest.length > 0) return undefined;
  const width = address.family === 4 ? 32 : 128;
  if (lengthText === undefined) return { address, prefixLength: width };
  if (!/^\d{1,3}$/.test(lengthText)) return undefined;
  // A mapped range such as ::ffff:10.0.0.0/104 is the IPv4 range behind it.
  const prefixLength =
    Number(lengthText) - (address.family === 4 && addressText.includes(":") ? 96 : 0);
  return prefixLength >= 0 && prefixLength <= width ? { address, prefixLength } : undefined;
}

export function isInCidr(address: Address, range: Cidr): boolean {
  if (address.family !== range.address.family) return false;
  const shift = BigInt((address.family === 4 ? 32 : 128) - range.prefixLength);
  return address.bits >> shift === range.address.bits >> shift;
}

const loopback = ["127.0.0.0/8", "::1"].flatMap((text) => parseCidr(text) ?? []);

/** True for an address that only this machine reaches, and for the name `localhost`. */
export function isLoopback(host: string): boolean {
  const address = parseAddress(host);
  if (address === undefined) return host.toLowerCase() === "localhost";
  return loopback.some((range) => isInCidr(address, range));
}

export function isTrusted(text: string, trustedProxies: readonly Cidr[]): boolean {
  const address = parseAddress(text);
  return address !== undefined && trustedProxies.some((range) => isInCidr(address, range));
}

/**
 * The client's address, as text. `X-Forwarded-For` counts only if the peer is a trusted proxy. Then
 * the client is the first hop from the right that is not a trusted proxy. The walk ends at a hop
 * that is not an address, because the hops before it are not reliable.
 */
export function clientAddress(
  peer: string,
  forwardedFor: string | null | undefined,
  trustedProxies: readonly Cidr[],
): string {
  let client = peer;
  if (!forwardedFor) return client;
  const hops = forwardedFor.split(",");
  for (;;) {
    if (!isTrusted(client, trustedProxies)) break;
    const hop = addressOfHop(hops.pop()?.trim() ?? "");
    if (parseAddress(hop) === undefined) break;
    client = hop;
  }
  return client;
}

/** The address of a hop, without a proxy's port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function addressOfHop(hop: string): string {
  const [, quad, bracketed] =
    /^(?:([\d.]+):\d{1,5}|\[([\da-f:]*:[\da-f:.]*)\](?::\d{1,5})?)$/i.exec(hop) ?? [];
  return quad ?? bracketed ?? hop;
}

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
