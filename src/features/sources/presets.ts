/**
 * The programs whose lists are followed by name: where each has its list, how it takes a credential
 * and how it pages. A preset pages to the end and checks that the list is whole.
 */
import { isJsonObject, jsonText, parseJson } from "../../domain/exact-json.ts";
import { limits as inputLimits } from "../import/read/input.ts";
import type { Given } from "../import/understand/propose.ts";
import {
  type FetchedPage,
  type FetchLimits,
  fetchPage,
  type NoList,
  noList,
  type SourceRequest,
  type Validators,
} from "./fetch.ts";

export const presetNames = ["asm", "shelterluv", "rescuegroups", "adoptapet"] as const;
export type PresetName = (typeof presetNames)[number];

export interface Address {
  /** The preset, and the account at it; or `url` for any other address. */
  readonly preset: PresetName | null;
  readonly account: string | null;
  /** The address; of a preset, one that stands for the program's own. */
  readonly url: string | null;
}

const pagesMax = 200;
const defaultUrls: Readonly<Record<PresetName, string>> = {
  asm: "https://service.sheltermanager.com/asmservice",
  shelterluv: "https://www.shelterluv.com/api/v1/animals",
  rescuegroups: "https://api.rescuegroups.org/v5/public/orgs",
  adoptapet: "https://api.adoptapet.com/search/pets_at_shelter",
};

type Fetched = FetchedPage | "unchanged";

/** The list at `address`, one document whatever the number of its pages. Throws NoList. */
export async function fetchList(
  address: Address,
  secret: string | null,
  known: Validators,
  limits: FetchLimits,
): Promise<Fetched> {
  const { preset } = address;
  if (preset === null) {
    const secretHeaders = secret === null ? {} : { Authorization: authorization(secret) };
    return fetchPage({ url: new URL(address.url ?? ""), secretHeaders, known }, limits);
  }
  const url = new URL(address.url ?? defaultUrls[preset]);
  const asked = { url, account: address.account ?? "", secret: secret ?? "", known };
  return presets[preset](asked, limits);
}

/** `user:password` as Basic (RFC 7617), any other secret as a bearer token. */
function authorization(secret: string): string {
  return /^[^\s:]+:/.test(secret)
    ? `Basic ${Buffer.from(secret).toString("base64")}`
    : `Bearer ${secret}`;
}

interface Asked {
  readonly url: URL;
  readonly account: string;
  readonly secret: string;
  readonly known: Validators;
}

const presets: Readonly<
  Record<PresetName, (asked: Asked, limits: FetchLimits) => Promise<Fetched>>
> = {
  asm({ url, account, secret, known }, limits) {
    const at = withQuery(url, { account, method: "json_adoptable_animals" });
    const [username = "", ...password] = secret.split(":");
    // By POST, so that no log of the way has the credential.
    const secretForm = new URLSearchParams(
      password.length > 0 ? { username, password: password.join(":") } : { key: secret },
    );
    return fetchPage({ url: at, secretForm, known }, limits);
  },

  shelterluv: ({ url, secret }, limits) =>
    allPages(limits, {
      list: "animals",
      id: "Internal-ID",
      request: (page) => ({
        url: withQuery(url, { status_type: "publishable", limit: 100, offset: page * 100 }),
        secretHeaders: { "X-Api-Key": secret },
      }),
      facts(page) {
        if (page["success"] !== 1) throw refusal(page["error_message"]);
        return { hasMore: page["has_more"] === true, total: page["total_count"] };
      },
    }),

  rescuegroups({ url, account, secret }, limits) {
    const path = `/${encodeURIComponent(account)}/animals/search/available`;
    const search = new URL(url.href.replace(/\/$/, "") + path);
    const query = { limit: 250, include: "species,statuses" };
    return allPages(limits, {
      list: "data",
      id: "id",
      request: (page) => ({
        url: withQuery(search, { ...query, page: page + 1 }),
        secretHeaders: { Authorization: secret },
      }),
      facts(page, at) {
        if (page["errors"] !== undefined) throw refusal(jsonText(page["errors"]));
        const meta = isJsonObject(page["meta"]) ? page["meta"] : {};
        return { hasMore: at + 1 < Number(meta["pages"] ?? 1), total: meta["count"] };
      },
    });
  },

  adoptapet: ({ url, account, secret }, limits) =>
    allPages(limits, {
      list: "pets",
      id: "pet_id",
      request(page) {
        const part = { start_number: page * 100 + 1, end_number: (page + 1) * 100 };
        const query = { key: secret, v: 2, output: "json", shelter_id: account, ...part };
        return { url: withQuery(url, query) };
      },
      facts(page, at) {
        const error = isJsonObject(page["error"]) ? page["error"] : {};
        if (page["status"] !== "ok") throw refusal(error["msg"]);
        const total = page["total_pets"];
        return { hasMore: (at + 1) * 100 < Number(total ?? 0), total };
      },
    }),
};

/** What is known of the lists of a program that no format knows: all of them are for adoption. */
export const readingsOf: Readonly<Partial<Record<PresetName, Given>>> = {
  adoptapet: {
    columns: { name: "pet_name", categoryId: "species", externalId: "pet_id" },
    defaultStatus: "available",
    records: ["pets"],
  },
};

function withQuery(url: URL, query: Readonly<Record<string, string | number>>): URL {
  const at = new URL(url);
  for (const [name, value] of Object.entries(query)) at.searchParams.set(name, `${value}`);
  return at;
}

function refusal(said: unknown): NoList {
  const words = typeof said === "string" && said !== "" ? said.slice(0, 200) : "no reason given";
  return noList("sourceRefused", words);
}

/** How a program pages its list. */
interface Paging {
  /** The property of a page with its records, and that of a record that is its id. */
  readonly list: string;
  readonly id: string;
  request(page: number): SourceRequest;
  /** Whether more pages follow, and how many records all have. Throws NoList for a refusal. */
  facts(page: JsonObject, at: number): { readonly hasMore: boolean; readonly total: unknown };
}
type JsonObject = Readonly<Record<string, unknown>>;

/**
 * All pages as one document: the last, with the records of all and what JSON:API includes. Asks for
 * pages until the source says that there are no more, and compares the number of different ids with
 * the total that it gives: a list that changes while it is paged has one twice or lacks one.
 */
async function allPages(
  limits: FetchLimits,
  { list, id, request, facts }: Paging,
): Promise<Fetched> {
  const records: unknown[] = [];
  const included: unknown[] = [];
  let bytesMax = limits.bytesMax ?? inputLimits.bytes;
  for (let at = 0; at < pagesMax; at++) {
    const fetched = await fetchPage(request(at), { ...limits, bytesMax });
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
