/**
 * Fetches a list from a stranger's server. A name is resolved once, its addresses are checked, and
 * asked one after the other until one responds, so that a name that changes in between leads nowhere
 * else. A redirect is checked like the first address, and gets no secret at another origin.
 * Programs that have lists go by name: a preset pages to the end, and checks that it is whole.
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
import { isJsonObject, jsonText, parseJson } from "../../domain/exact-json.ts";
import type { Given } from "../import/understand/propose.ts";

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

interface Asked {
  readonly url: URL;
  readonly account: string;
  readonly secret: string;
}

type JsonObject = Readonly<Record<string, unknown>>;

interface Paging {
  /** The property of a page with its records, and that of a record that is its id. */
  readonly list: string;
  readonly id: string;
  readonly secretHeaders?: Readonly<Record<string, string>>;
  url(page: number): URL;
  /** Whether more pages follow, and how many records all have. Throws NoList for a refusal. */
  facts(page: JsonObject, at: number): { readonly hasMore: boolean; readonly total: unknown };
}

interface Preset {
  /** The program's own address. */
  readonly at: string;
  readonly list: (asked: Asked) => Paging | SourceRequest;
}

const presets = {
  asm: {
    at: "https://service.sheltermanager.com/asmservice",
    list({ url, account, secret }) {
      const [username = "", ...password] = secret.split(":");
      // By POST, so that no log of the way has the credential.
      const secretForm = new URLSearchParams(
        password.length > 0 ? { username, password: password.join(":") } : { key: secret },
      );
      return { url: withQuery(url, { account, method: "json_adoptable_animals" }), secretForm };
    },
  },
  shelterluv: {
    at: "https://www.shelterluv.com/api/v1/animals",
    list: ({ url, secret }) => ({
      list: "animals",
      id: "Internal-ID",
      secretHeaders: { "X-Api-Key": secret },
      url: (page) => withQuery(url, { status_type: "publishable", limit: 100, offset: page * 100 }),
      facts(page) {
        if (page["success"] !== 1) throw refusal(page["error_message"]);
        return { hasMore: page["has_more"] === true, total: page["total_count"] };
      },
    }),
  },
  rescuegroups: {
    at: "https://api.rescuegroups.org/v5/public/orgs",
    list({ url, account, secret }) {
      const path = `/${encodeURIComponent(account)}/animals/search/available`;
      const search = new URL(url.href.replace(/\/$/, "") + path);
      const query = { limit: 250, include: "species,statuses" };
      return {
        list: "data",
        id: "id",
        secretHeaders: { Authorization: secret },
        url: (page) => withQuery(search, { ...query, page: page + 1 }),
        facts(page, at) {
          if (page["errors"] !== undefined) throw refusal(jsonText(page["errors"]));
          const meta = isJsonObject(page["meta"]) ? page["meta"] : {};
          return { hasMore: at + 1 < Number(meta["pages"] ?? 1), total: meta["count"] };
        },
      };
    },
  },
  adoptapet: {
    at: "https://api.adoptapet.com/search/pets_at_shelter",
    list({ url, account, secret }) {
      const query = { key: secret, v: 2, output: "json", shelter_id: account };
      return {
        list: "pets",
        id: "pet_id",
        url: (page) =>
          withQuery(url, { ...query, start_number: page * 100 + 1, end_number: (page + 1) * 100 }),
        facts(page, at) {
          const error = isJsonObject(page["error"]) ? page["error"] : {};
          if (page["status"] !== "ok") throw refusal(error["msg"]);
          const total = page["total_pets"];
          return { hasMore: (at + 1) * 100 < Number(total ?? 0), total };
        },
      };
    },
  },
} satisfies Readonly<Record<string, Preset>>;

export type PresetName = keyof typeof presets;
export const presetNames = Object.keys(presets) as PresetName[];

/** What is known of the lists of a program that no format knows: all of them are for adoption. */
export const readingsOf: Readonly<Partial<Record<PresetName, Given>>> = {
  adoptapet: {
    columns: { name: "pet_name", categoryId: "species", externalId: "pet_id" },
    defaultStatus: "available",
    records: ["pets"],
  },
};

export interface Address {
  /** The preset, and the account at it; or `url` for any other address. */
  readonly preset: PresetName | null;
  readonly account: string | null;
  /** The address; of a preset, one that stands for the program's own. */
  readonly url: string | null;
}

/** The list at `address`, one document whatever the number of its pages. Throws NoList. */
export async function fetchList(
  { preset, account, url }: Address,
  secret: string | null,
  known: Validators,
  limits: FetchLimits,
): Promise<FetchedPage | "unchanged"> {
  if (preset === null) {
    const secretHeaders = secret === null ? {} : { Authorization: authorization(secret) };
    return fetchPage({ url: new URL(url ?? ""), secretHeaders, known }, limits);
  }
  const { at, list }: Preset = presets[preset];
  const how = list({ url: new URL(url ?? at), account: account ?? "", secret: secret ?? "" });
  return "list" in how ? allPages(limits, how) : fetchPage({ ...how, known }, limits);
}

/** `user:password` as Basic (RFC 7617), any other secret as a bearer token. */
function authorization(secret: string): string {
  return /^[^\s:]+:/.test(secret)
    ? `Basic ${Buffer.from(secret).toString("base64")}`
    : `Bearer ${secret}`;
}

function withQuery(url: URL, query: Readonly<Record<string, string | number>>): URL {
  const at = new URL(url);
  for (const [name, value] of Object.entries(query)) at.searchParams.set(name, `${value}`);
  return at;
}

const refusal = (said: unknown) =>
  noList(
    "sourceRefused",
    typeof said === "string" && said !== "" ? said.slice(0, 200) : "no reason given",
  );

const pagesMax = 200;

/**
 * All pages as one document: the last, with the records of all and what JSON:API includes. Asks for
 * pages until the source says that there are no more, and compares the number of different ids with
 * the total that it gives: a list that changes while it is paged has one twice or lacks one.
 */
async function allPages(
  limits: FetchLimits,
  { list, id, secretHeaders, url, facts }: Paging,
): Promise<FetchedPage | "unchanged"> {
  const records: unknown[] = [];
  const included: unknown[] = [];
  let bytesMax = limits.bytesMax ?? inputLimits.bytes;
  for (let at = 0; at < pagesMax; at++) {
    const fetched = await fetchPage({ url: url(at), secretHeaders }, { ...limits, bytesMax });
    if (fetched === "unchanged") return fetched;
    bytesMax -= fetched.bytes.length;
    const page = documentOf(fetched.bytes);
    const { hasMore, total } = facts(page, at);
    const own = page[list];
    if (!Array.isArray(own)) throw noList("returnedNoList", list);
    records.push(...own);
    if (Array.isArray(page["included"])) included.push(...page["included"]);
    if (hasMore && own.length > 0) continue;
    const ids = new Set(
      records.map((each, n) => (isJsonObject(each) ? jsonText(each[id] ?? `at ${n}`) : n)),
    );
    const expected = Number(total);
    if (hasMore || (Number.isFinite(expected) && ids.size !== expected)) {
      throw noList("countWrong", String(total), `${ids.size}`);
    }
    if (ids.size === 0) throw noList("returnedNone");
    const more = included.length > 0 && { included };
    // What the last page says of pages is not so of all.
    const { meta: _meta, ...rest } = page;
    const whole = jsonText({ ...rest, [list]: records, has_more: false, ...more });
    return { bytes: Buffer.from(whole), etag: null, lastModified: null };
  }
  throw noList("pagesMany", `${pagesMax}`);
}

function documentOf(bytes: Uint8Array): JsonObject {
  try {
    const value = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (isJsonObject(value)) return value;
  } catch {
    // Neither is what is no object.
  }
  throw noList("returnedNoJson");
}
