/**
 * Fetches a list from a stranger's server. A name is resolved once, its addresses are checked, and
 * asked one after the other until one responds, so that a name that changes in between leads nowhere
 * else. A redirect is checked like the first address, and gets no secret at another origin.
 * Programs that have lists go by name: a preset pages to the end, and checks that it is whole.
 */
import { lookup } from "node:dns/promises";
import { type Cidr, inUrl, isInCidr, parseAddress, parseCidr } from "../../domain/address.ts";
import { type Clock, dayMs, minuteMs } from "../../domain/clock.ts";
import { type Message, message } from "../import/messages.ts";
import { isUtf8 } from "node:buffer";
import { isEncoding, limits as most, UnreadableInput, wholeInput } from "../import/read/input.ts";
import { valueAt } from "../import/read/json.ts";
import { isJsonObject, jsonText, parseJson } from "../../domain/exact-json.ts";
import type { Given } from "../import/understand/propose.ts";

/** Why a source gave no list: nothing changes, and the next pull comes by the schedule. */
export class NoList extends UnreadableInput {
  /** What the source asks to wait, at most a day. */
  retryAfterMs = 0;
}

export const noList: <C extends Message["code"]>(
  ...said: Parameters<typeof message<C>>
) => NoList = (...said) => new NoList(0, message(...said));

interface SourceRequest {
  readonly url: URL;
  /** Headers and a form with secrets: only the origin of `url` gets them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly form?: URLSearchParams | undefined;
}

export interface Fetched {
  readonly bytes: Uint8Array;
  /** What its source says of the encoding of a text that is not UTF-8. */
  readonly encoding?: string | undefined;
  /** True if nothing told where it ends: a part of it may be missing. */
  readonly isEndless?: boolean;
  /** Which header says that this is not all. */
  readonly more?: string | undefined;
}

export interface FetchLimits {
  /** Allows private and loopback addresses, and http there: for a program on the local network. */
  readonly allowPrivate: boolean;
  readonly clock: Clock;
  /** How many bytes the pages of a list may have, unpacked. */
  readonly bytesMax?: number;
  readonly pageMaxMs?: number;
  /** How long an address may take to respond if there is another one. */
  readonly addressMaxMs?: number;
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

const listMaxMs = 10 * minuteMs;
const redirectsMax = 5;

/** Tells addresses in any of these ranges, and what is no address. */
function isIn(text: string): (host: string) => boolean {
  const ranges = text.split(/\s+/).map((range) => parseCidr(range) as Cidr);
  return (host) => {
    const address = parseAddress(host);
    return address === undefined || ranges.some((range) => isInCidr(address, range));
  };
}

/**
 * True for what is not on the public internet (IANA's special-purpose registries, RFC 6890). Of
 * IPv6, IANA gives out 2000::/3 only; other prefixes may lead to an IPv4 network.
 */
export const isSpecialAddress = isIn(
  `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
  192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24
  224.0.0.0/4 240.0.0.0/4 ::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16 3fff::/20`,
);

/**
 * True for link-local addresses, where a cloud gives its machines their credentials, also through
 * NAT64, those of Alibaba, Oracle and AWS for the same, and groups. No list is on any of them.
 */
export const isNeverAsked = isIn(
  `169.254.0.0/16 64:ff9b::a9fe:0/112 2002:a9fe::/32 100.100.100.200/32 192.0.0.192/32
  fe80::/10 fd00:ec2::/32 224.0.0.0/4 ff00::/8`,
);

/** The page at `request.url`. Throws NoList. */
async function fetchPage(request: SourceRequest, limits: FetchLimits, ending: AbortSignal) {
  const signal = AbortSignal.any([ending, AbortSignal.timeout(limits.pageMaxMs ?? minuteMs)]);
  let asked = request;
  try {
    for (let redirects = 0; redirects <= redirectsMax; redirects++) {
      const response = await askInTurn(asked, limits, signal);
      const { status, headers, body } = response;
      const location = headers.get("Location");
      if (status < 300 || status >= 400 || location === null) return await pageOf(response, limits);
      await body?.cancel();
      const url = new URL(location, asked.url);
      asked = url.origin === asked.url.origin ? { ...asked, url } : { url };
    }
  } catch (error) {
    if (error instanceof UnreadableInput) throw error;
    if (signal.aborted) throw noList("sourceSlow");
    const { code, name } = error as Error & { readonly code?: string };
    if (code === "ENOTFOUND") throw noList("hostUnknown", asked.url.hostname);
    throw noList("unreachable", code ?? name);
  }
  throw noList("redirectsMany", `${redirectsMax}`);
}

const lookedUp = async (host: string): Promise<readonly string[]> =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/** The addresses of a host, all of which may be asked. */
async function pin(url: URL, { allowPrivate, resolve = lookedUp }: FetchLimits) {
  if (url.username !== "" || url.password !== "") throw noList("addressSecret");
  const isPlain = url.protocol === "http:";
  if (url.protocol !== "https:" && !(isPlain && allowPrivate)) {
    throw noList("addressScheme", url.protocol);
  }
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const found = await resolve(host);
  if (found.some(isNeverAsked)) throw noList("hostForbidden", host);
  if (!allowPrivate && found.some(isSpecialAddress)) throw noList("hostPrivate", host);
  if (isPlain && !found.every(isSpecialAddress)) throw noList("hostPublic", host);
  return found;
}

/** The response of the first address that gives one. The last one has as long as the page. */
async function askInTurn(request: SourceRequest, limits: FetchLimits, signal: AbortSignal) {
  const addresses = await pin(request.url, limits);
  for (const address of addresses.slice(0, -1)) {
    const slow = new AbortController();
    const timer = setTimeout(() => slow.abort(), limits.addressMaxMs ?? 10_000);
    try {
      return await ask(request, address, AbortSignal.any([signal, slow.signal]));
    } catch (error) {
      if (signal.aborted) throw error;
    } finally {
      clearTimeout(timer);
    }
  }
  return ask(request, addresses.at(-1) ?? "", signal);
}

function ask({ url, headers, form }: SourceRequest, address: string, signal: AbortSignal) {
  const at = new URL(url);
  at.hostname = inUrl(address);
  const accept = "application/json, text/csv, */*;q=0.5";
  return fetch(at, {
    headers: { Host: url.host, "User-Agent": "rehome", Accept: accept, ...headers },
    redirect: "manual",
    // Not through the proxy of the environment, which would see secrets. Bun's types lack it.
    proxy: false as never,
    signal,
    tls: { serverName: url.hostname },
    ...(form && { method: "POST", body: form }),
  });
}

async function pageOf(response: Response, { clock, bytesMax }: FetchLimits): Promise<Fetched> {
  const { status, headers, body } = response;
  if (status !== 200) {
    await body?.cancel();
    const refusal = refusalOf(status);
    refusal.retryAfterMs = retryAfter(headers.get("Retry-After") ?? "", clock());
    throw refusal;
  }
  const bytes = await wholeInput(body ?? new Blob().stream(), bytesMax);
  const start = new TextDecoder().decode(bytes.subarray(0, 2_048));
  if (start.trim() === "") throw noList("returnedNothing");
  const [, said] = /^\s*ERROR:\s*([^\r\n]{0,200})/.exec(start) ?? [];
  if (said !== undefined) throw noList("sourceRefused", said);
  // Compressed, it ends with a checksum.
  const ends = ["Content-Length", "Transfer-Encoding", "Content-Encoding"];
  return {
    bytes,
    encoding: isUtf8(bytes) ? undefined : charsetOf(headers.get("Content-Type") ?? ""),
    more: moreIn(headers),
    isEndless: !ends.some((name) => headers.has(name)),
  };
}

/** The next page by RFC 8288, or the number of pages as WordPress has it. */
function moreIn(headers: Headers): string | undefined {
  if (/;\s*rel\s*=\s*"?(?:[^",;]*\s)?next\b/i.test(headers.get("Link") ?? "")) return "Link: next";
  const pages = headers.get("X-WP-TotalPages") ?? "1";
  return Number(pages) > 1 ? `${pages} pages` : undefined;
}

/** The encoding of a text. One that says UTF-8 and is not is guessed, as a file is. */
function charsetOf(type: string): string | undefined {
  const [, charset = "utf-8"] = /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(type) ?? [];
  return isEncoding(charset) && !/^utf-?8$/i.test(charset) ? charset : undefined;
}

function refusalOf(status: number): NoList {
  if (status === 401 || status === 403) return noList("credentialRefused", `${status}`);
  if (status === 429) return noList("waitAsked", `${status}`);
  return noList(status >= 500 ? "sourceFailed" : "statusOther", `${status}`);
}

/** `Retry-After` (RFC 9110, section 10.2.3) in milliseconds, at most a day. */
function retryAfter(text: string, nowMs: number): number {
  const ms = /^\d+$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Math.min(Math.max(ms || 0, 0), dayMs);
}

/** How a program gives the list of an account. */
interface Preset {
  /** The program's own address, and what stands behind that, or behind another one. */
  readonly at: string;
  readonly ask: string;
  /** The header with the credential. */
  readonly header?: string;
  /** The credential by POST, so that no log of the way has it. */
  readonly form?: (secret: string) => Record<string, string>;
  /** Where pages have the records, their ids, how many there are in all, and why there are none. */
  readonly pages?: Readonly<Record<"list" | "id" | "total" | "why", string>>;
  /** What is known of a list that no format knows. */
  readonly reading?: Given;
}

/** How many records a page has. */
const size = 100;

const presets: Readonly<Record<string, Preset>> = {
  asm: {
    at: "https://service.sheltermanager.com/asmservice",
    ask: "?account={account}&method=json_adoptable_animals",
    form(secret) {
      const [username = "", ...password] = secret.split(":");
      return password.length > 0 ? { username, password: password.join(":") } : { key: secret };
    },
  },
  shelterluv: {
    at: "https://www.shelterluv.com/api/v1/animals",
    ask: "?status_type=publishable&limit={size}&offset={offset}",
    header: "X-Api-Key",
    pages: { list: "animals", id: "Internal-ID", total: "total_count", why: "error_message" },
  },
  rescuegroups: {
    at: "https://api.rescuegroups.org/v5/public/orgs",
    ask: "/{account}/animals/search/available?limit={size}&include=species,statuses&page={page}",
    header: "Authorization",
    pages: { list: "data", id: "id", total: "meta.count", why: "errors" },
  },
  adoptapet: {
    at: "https://api.adoptapet.com/search/pets_at_shelter",
    ask: "?key={secret}&v=2&output=json&shelter_id={account}&start_number={first}&end_number={last}",
    pages: { list: "pets", id: "pet_id", total: "total_pets", why: "error.msg" },
    // All of them are for adoption.
    reading: {
      columns: { name: "pet_name", categoryId: "species", externalId: "pet_id" },
      defaultStatus: "available",
      records: ["pets"],
    },
  },
};

export const presetNames = Object.keys(presets);

type Text = string | null | undefined;
export const presetOf = (name: Text): Preset | undefined => presets[name ?? ""];

/** An account at a preset, on an address of its own if it has one; or any other address. */
export type Address = Readonly<Partial<Record<"preset" | "account" | "url" | "secret", Text>>>;

/** The list at `address`, one document whatever the number of its pages. Throws NoList. */
export async function fetchList(
  { preset: name, account, url, secret }: Address,
  limits: FetchLimits,
): Promise<Fetched> {
  const ending = AbortSignal.timeout(listMaxMs);
  const preset = presetOf(name);
  if (preset === undefined) {
    const headers = secret ? { Authorization: authorization(secret) } : {};
    return fetchPage({ url: new URL(url ?? ""), headers }, limits, ending);
  }
  const { at, ask, header, form, pages } = preset;
  const requestOf = (page: number): SourceRequest => {
    const offset = page * size;
    const numbers = { page: page + 1, offset, first: offset + 1, last: offset + size };
    const values = { account, secret, size, ...numbers };
    const filled = ask.replaceAll(/\{(\w+)\}/g, (_, key: keyof typeof values) =>
      encodeURIComponent(values[key] ?? ""),
    );
    return {
      url: new URL((url ?? at).replace(/\/$/, "") + filled),
      headers: header && secret ? { [header]: secret } : undefined,
      form: form && new URLSearchParams(form(secret ?? "")),
    };
  };
  if (pages === undefined) return fetchPage(requestOf(0), limits, ending);
  return allPages(requestOf, pages, limits, ending);
}

/** `user:password` as Basic (RFC 7617), any other secret as a bearer token. */
function authorization(secret: string): string {
  return /^[^\s:]+:/.test(secret)
    ? `Basic ${Buffer.from(secret).toString("base64")}`
    : `Bearer ${secret}`;
}

const pagesMax = 200;

/**
 * All pages as one document: the last, with the records of all and what JSON:API includes. Asks for
 * pages until the source says that there are no more, and compares the number of different ids with
 * the total that it gives: a list that changes while it is paged has one twice or lacks one.
 */
async function allPages(
  requestOf: (page: number) => SourceRequest,
  { list, id, total, why }: NonNullable<Preset["pages"]>,
  limits: FetchLimits,
  ending: AbortSignal,
): Promise<Fetched> {
  const records: unknown[] = [];
  const included: unknown[] = [];
  let bytesMax = limits.bytesMax ?? most.bytes;
  for (let at = 0; at < pagesMax; at++) {
    const { bytes } = await fetchPage(requestOf(at), { ...limits, bytesMax }, ending);
    bytesMax -= bytes.length;
    const page = documentOf(bytes);
    const own = page[list];
    const said = valueAt(page, why.split("."));
    if (said) {
      const text = typeof said === "string" ? said : jsonText(said);
      throw noList("sourceRefused", text.slice(0, 200));
    }
    const isFailed = (page["success"] ?? 1) !== 1 || (page["status"] ?? "ok") !== "ok";
    if (isFailed || !Array.isArray(own)) throw noList("returnedNoList", list);
    records.push(...own);
    if (Array.isArray(page["included"])) included.push(...page["included"]);
    const count = Number(valueAt(page, total.split(".")) ?? Number.NaN);
    const isPart = Number.isNaN(count) ? own.length === size : records.length < count;
    const hasMore = page["has_more"] === true || isPart;
    if (hasMore && own.length > 0) continue;
    const ids = new Set(records.map((each, n) => jsonText(valueAt(each, [id]) ?? `at ${n}`)));
    if (hasMore || (!Number.isNaN(count) && ids.size !== count)) {
      throw noList("countWrong", `${count}`, `${ids.size}`);
    }
    if (ids.size === 0) throw noList("returnedNone");
    // What the last page says of pages is not so of all.
    const { meta: _meta, ...rest } = page;
    const more = included.length > 0 && { included };
    const whole = jsonText({ ...rest, [list]: records, has_more: false, ...more });
    return { bytes: Buffer.from(whole) };
  }
  throw noList("pagesMany", `${pagesMax}`);
}

function documentOf(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (isJsonObject(value)) return value;
  } catch {
    // Neither is what is no object.
  }
  throw noList("returnedNoJson");
}
