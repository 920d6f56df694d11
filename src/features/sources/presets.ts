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
  noList,
  type SourceRequest,
  type Validators,
} from "./fetch.ts";

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
