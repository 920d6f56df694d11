/**
 * Fetches a list from a stranger's server. A name is resolved once, its addresses are checked, and
 * asked one after the other until one responds, so that a name that changes in between leads nowhere
 * else. A redirect is checked like the first address, and gets no secret at another origin.
 */
import { lookup } from "node:dns/promises";
import { type Cidr, isInCidr, parseAddress, parseCidr } from "../../domain/address.ts";
import { type Clock, dayMs, minuteMs } from "../../domain/clock.ts";
import { type Message, message } from "../import/messages.ts";
import { isUtf8 } from "node:buffer";
import {
  isEncoding,
  limits as inputLimits,
  tooLarge,
  UnreadableInput,
} from "../import/read/input.ts";

/** Why a source gave no list: nothing changes, and the next pull comes by the schedule. */
export class NoList extends UnreadableInput {
  /** What the source asks to wait, at most a day. */
  readonly retryAfterMs: number | undefined;

  constructor(problem: Message, retryAfterMs?: number) {
    super(0, problem);
    this.retryAfterMs = retryAfterMs;
  }
}

export const noList: <C extends Message["code"]>(
  ...said: Parameters<typeof message<C>>
) => NoList = (...said) => new NoList(message(...said));

export interface SourceRequest {
  readonly url: URL;
  /** Headers and a form with secrets: only the origin of `url` gets them. */
  readonly secretHeaders?: Readonly<Record<string, string>> | undefined;
  readonly secretForm?: URLSearchParams | undefined;
  /** `ETag` and `Last-Modified` of the last list that was taken. */
  readonly known?: Validators;
}

export interface Validators {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

export interface FetchedPage extends Validators {
  readonly bytes: Uint8Array;
  /** The encoding of a text, as its source names it. */
  readonly charset?: string | undefined;
  /** True if nothing told where it ends: a part of it may be missing. */
  readonly isEndless?: boolean;
  /** Which header says that this is not all. */
  readonly more?: string | undefined;
}

export interface FetchLimits {
  /** Allows private and loopback addresses, and http there: for a program on the local network. */
  readonly allowPrivate: boolean;
  /** Ends the whole pull. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** How many bytes the pages of this pull may still have, unpacked. */
  readonly bytesMax?: number;
  readonly pageMaxMs?: number;
  /** How long an address may take to respond if there is another one. */
  readonly addressMaxMs?: number;
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

const redirectsMax = 5;

const rangesIn = (text: string) => text.split(/\s+/).map((range) => parseCidr(range) as Cidr);

/**
 * Ranges that are not on the public internet (IANA's special-purpose registries, RFC 6890). Of
 * IPv6, IANA gives out 2000::/3 only; other prefixes may lead to an IPv4 network.
 */
const specialRanges = rangesIn(
  `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
  192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24
  224.0.0.0/4 240.0.0.0/4 ::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16 3fff::/20`,
);

/**
 * Link-local addresses, where a cloud gives its machines their credentials, also through NAT64,
 * those of Alibaba, Oracle and AWS for the same, and groups. No list is on any of them.
 */
const neverRanges = rangesIn(
  `169.254.0.0/16 64:ff9b::a9fe:0/112 2002:a9fe::/32 100.100.100.200/32 192.0.0.192/32
  fe80::/10 fd00:ec2::/32 224.0.0.0/4 ff00::/8`,
);

const isIn = (text: string, ranges: readonly Cidr[]): boolean => {
  const address = parseAddress(text);
  return address === undefined || ranges.some((range) => isInCidr(address, range));
};

export const isPublicAddress = (text: string): boolean => !isIn(text, specialRanges);

export const isNeverAsked = (text: string): boolean => isIn(text, neverRanges);

/** The page at `request.url`, or `unchanged` where the source says so (304). Throws NoList. */
export async function fetchPage(
  request: SourceRequest,
  limits: FetchLimits,
): Promise<FetchedPage | "unchanged"> {
  const { pageMaxMs = minuteMs, addressMaxMs = 10_000 } = limits;
  const signal = AbortSignal.any([limits.signal, AbortSignal.timeout(pageMaxMs)]);
  try {
    let asked = request;
    for (let redirects = 0; redirects <= redirectsMax; redirects++) {
      const addresses = await pin(asked.url, limits);
      const response = await askInTurn(asked, addresses, signal, addressMaxMs);
      const { status, headers, body } = response;
      const location = headers.get("Location");
      if (status < 300 || status >= 400 || status === 304 || location === null) {
        return await pageOf(response, limits);
      }
      await body?.cancel();
      const url = new URL(location, asked.url);
      const isOwn = url.origin === asked.url.origin;
      const secretHeaders = isOwn ? asked.secretHeaders : undefined;
      const secretForm = isOwn && status >= 307 ? asked.secretForm : undefined;
      asked = { ...asked, url, secretHeaders, secretForm };
    }
  } catch (error) {
    throw error instanceof UnreadableInput ? error : failureOf(error, signal.aborted);
  }
  throw noList("redirectsMany", `${redirectsMax}`);
}

/** The encoding to read a body by: its source says it, but a text that is UTF-8 is UTF-8. */
export function encodingOf({ bytes, charset }: Pick<FetchedPage, "bytes" | "charset">) {
  if (charset === undefined || !isEncoding(charset) || /^utf-?8$/i.test(charset)) return undefined;
  const isMarked =
    (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  return isMarked || isUtf8(bytes) ? undefined : charset;
}

async function addressesOf(host: string): Promise<readonly string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch (error) {
    throw (error as { code?: string }).code === "ENOTFOUND" ? noList("hostUnknown", host) : error;
  }
}

/** The addresses of a host, all of which may be asked. */
async function pin(
  url: URL,
  { allowPrivate, resolve = addressesOf }: FetchLimits,
): Promise<readonly string[]> {
  if (url.username !== "" || url.password !== "") throw noList("addressSecret");
  const isPlain = url.protocol === "http:";
  if (url.protocol !== "https:" && !(isPlain && allowPrivate)) {
    throw noList("addressScheme", url.protocol);
  }
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const found = await resolve(host);
  if (found.some(isNeverAsked)) throw noList("hostForbidden", host);
  if (!allowPrivate && !found.every(isPublicAddress)) throw noList("hostPrivate", host);
  if (isPlain && found.some(isPublicAddress)) throw noList("hostPublic", host);
  return found;
}

/** The response of the first address that gives one. */
async function askInTurn(
  request: SourceRequest,
  [address = "", ...others]: readonly string[],
  signal: AbortSignal,
  addressMaxMs: number,
): Promise<Response> {
  if (others.length === 0) return ask(request, address, signal);
  const slow = new AbortController();
  const timer = setTimeout(() => slow.abort(), addressMaxMs);
  try {
    return await ask(request, address, AbortSignal.any([signal, slow.signal]));
  } catch (error) {
    if (signal.aborted) throw error;
    return await askInTurn(request, others, signal, addressMaxMs);
  } finally {
    clearTimeout(timer);
  }
}

function ask(
  { url, secretHeaders, known, secretForm }: SourceRequest,
  address: string,
  signal: AbortSignal,
): Promise<Response> {
  const at = new URL(url);
  at.hostname = address.includes(":") ? `[${address}]` : address;
  const headers = new Headers({
    Host: url.host,
    "User-Agent": "rehome",
    Accept: "application/json, text/csv, */*;q=0.5",
    ...(known?.etag ? { "If-None-Match": known.etag } : {}),
    ...(known?.lastModified ? { "If-Modified-Since": known.lastModified } : {}),
    ...secretHeaders,
  });
  return fetch(at, {
    headers,
    redirect: "manual",
    // Not through the proxy of the environment, which would see secrets. Bun's types lack it.
    proxy: false as never,
    signal,
    tls: { serverName: url.hostname },
    ...(secretForm && { method: "POST", body: secretForm }),
  });
}

async function pageOf(
  response: Response,
  { clock, bytesMax = inputLimits.bytes }: FetchLimits,
): Promise<FetchedPage | "unchanged"> {
  const { status, headers, body } = response;
  if (status === 304) return "unchanged";
  if (status !== 200) {
    await body?.cancel();
    throw new NoList(statusProblem(status), retryAfter(headers.get("Retry-After"), clock()));
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > bytesMax) throw tooLarge();
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  requireList(bytes);
  return {
    bytes,
    etag: headers.get("ETag"),
    lastModified: headers.get("Last-Modified"),
    charset: charsetOf(headers.get("Content-Type") ?? ""),
    more: moreIn(headers),
    // Compressed, it ends with a checksum.
    isEndless: !["Content-Length", "Transfer-Encoding", "Content-Encoding"].some((name) =>
      headers.has(name),
    ),
  };
}

/** The next page by RFC 8288, or the number of pages as WordPress has it. */
function moreIn(headers: Headers): string | undefined {
  if (/;\s*rel\s*=\s*"?(?:[^",;]*\s)?next\b/i.test(headers.get("Link") ?? "")) return "Link: next";
  const pages = headers.get("X-WP-TotalPages") ?? "1";
  return Number(pages) > 1 ? `${pages} pages` : undefined;
}

const charsetOf = (type: string): string | undefined =>
  /^\s*(?:text\/|application\/(?:csv|json))[^;]*;.*?\bcharset\s*=\s*"?([\w.:-]+)/i.exec(type)?.[1];

function statusProblem(status: number): Message {
  if (status === 401 || status === 403) return message("credentialRefused", `${status}`);
  if (status === 429) return message("waitAsked", `${status}`);
  return message(status >= 500 ? "sourceFailed" : "statusOther", `${status}`);
}

/** `Retry-After` (RFC 9110, section 10.2.3) in milliseconds, at most a day. */
function retryAfter(text: string | null, nowMs: number): number | undefined {
  if (text === null) return undefined;
  const ms = /^\d+$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), dayMs);
}

const webPage =
  /^\uFEFF?\s*(?:<!--(?:(?!-->)[^])*-->\s*)*<(?:!doctype\s+html|html|head|body|script)\b/i;

/** Throws NoList for a body of status 200 that is no list. */
function requireList(bytes: Uint8Array): void {
  const start = new TextDecoder().decode(bytes.subarray(0, 2_048));
  if (bytes.length <= 2_048 && start.trim() === "") throw noList("returnedNothing");
  if (webPage.test(start)) throw noList("returnedPage");
  const [, said] = /^\s*ERROR:\s*([^\r\n]{0,200})/.exec(start) ?? [];
  if (said !== undefined) throw noList("sourceRefused", said);
}

function failureOf(error: unknown, timedOut: boolean): NoList {
  const { name, code } = error as Record<string, string | undefined>;
  if (timedOut || name === "TimeoutError" || name === "AbortError") return noList("sourceSlow");
  return noList("unreachable", code ?? name ?? "unknown");
}
