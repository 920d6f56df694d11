/**
 * The programs whose lists are followed by name: where each has its list, how it takes a credential
 * and how it pages. A preset pages to the end and checks that the list is whole.
 */
import { isJsonObject, jsonText, parseJson } from "../../domain/exact-json.ts";
import { limits as inputLimits } from "../import/read/input.ts";
import {
  type FetchedPage,
  type FetchLimits,
  fetchPage,
  isProblem,
  problemOf,
  type SourceProblem,
  type SourceRequest,
  type Validators,
} from "./fetch.ts";

export const presetNames = ["asm", "shelterluv", "rescuegroups"] as const;
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
};

type Outcome = FetchedPage | "unchanged" | SourceProblem;

/** The list at `address`, one document whatever the number of its pages. */
export async function fetchList(
  address: Address,
  secret: string | null,
  known: Validators,
  limits: FetchLimits,
): Promise<Outcome> {
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
  Record<PresetName, (asked: Asked, limits: FetchLimits) => Promise<Outcome>>
> = {
  asm({ url, account, secret, known }, limits) {
    const at = new URL(url);
    at.searchParams.set("account", account);
    at.searchParams.set("method", "json_adoptable_animals");
    const [username = "", ...password] = secret.split(":");
    // By POST, so that no log of the way has the credential.
    const secretForm = new URLSearchParams(
      password.length > 0 ? { username, password: password.join(":") } : { key: secret },
    );
    return fetchPage({ url: at, secretForm, known }, limits);
  },

  shelterluv({ url, secret }, limits) {
    const limit = 100;
    const request = (page: number): SourceRequest => {
      const at = new URL(url);
      at.searchParams.set("status_type", "publishable");
      at.searchParams.set("limit", String(limit));
      at.searchParams.set("offset", String(page * limit));
      return { url: at, secretHeaders: { "X-Api-Key": secret } };
    };
    return allPages(request, limits, "animals", (page) => {
      if (page["success"] !== 1) return refusal(page["error_message"]);
      return {
        hasMore: page["has_more"] === true,
        total: page["total_count"],
        idKey: "Internal-ID",
      };
    });
  },

  rescuegroups({ url, account, secret }, limits) {
    const request = (page: number): SourceRequest => {
      const at = new URL(
        `${url.href.replace(/\/$/, "")}/${encodeURIComponent(account)}/animals/search/available`,
      );
      at.searchParams.set("limit", "250");
      at.searchParams.set("page", String(page + 1));
      at.searchParams.set("include", "species,statuses");
      return { url: at, secretHeaders: { Authorization: secret } };
    };
    return allPages(request, limits, "data", (page, at) => {
      if (page["errors"] !== undefined) return refusal(jsonText(page["errors"]).slice(0, 200));
      const meta = isJsonObject(page["meta"]) ? page["meta"] : {};
      return { hasMore: at + 1 < Number(meta["pages"] ?? 1), total: meta["count"], idKey: "id" };
    });
  },
};

function refusal(said: unknown): SourceProblem {
  const words = typeof said === "string" && said !== "" ? said.slice(0, 200) : "no reason given";
  return problemOf("sourceRefused", words);
}

interface PageFacts {
  readonly hasMore: boolean;
  readonly total: unknown;
  /** The property of a record that is its id. */
  readonly idKey: string;
}

/**
 * All pages as one document: the last, with the records of all under `key` and what JSON:API
 * includes. Asks for pages until the source says that there are no more, and compares the number
 * of different ids with the total that it gives.
 */
async function allPages(
  request: (page: number) => SourceRequest,
  limits: FetchLimits,
  key: string,
  factsOf: (page: Record<string, unknown>, at: number) => PageFacts | SourceProblem,
): Promise<Outcome> {
  const records: unknown[] = [];
  const included: unknown[] = [];
  let bytesLeft = limits.bytesMax ?? inputLimits.bytes;
  for (let at = 0; at < pagesMax; at++) {
    const fetched = await fetchPage(request(at), { ...limits, bytesMax: bytesLeft });
    if (fetched === "unchanged" || isProblem(fetched)) return fetched;
    bytesLeft -= fetched.bytes.length;
    const page = documentOf(fetched.bytes);
    if (page === undefined) return problemOf("returnedNoJson");
    const facts = factsOf(page, at);
    if (isProblem(facts)) return facts;
    const own = page[key];
    if (!Array.isArray(own)) return problemOf("returnedNoList", key);
    records.push(...own);
    if (Array.isArray(page["included"])) included.push(...page["included"]);
    if (facts.hasMore && own.length > 0) continue;
    const problem = wholeProblem(records, facts);
    if (problem !== undefined) return problem;
    const whole = {
      ...page,
      [key]: records,
      has_more: false,
      ...(included.length > 0 && { included }),
    };
    return { bytes: Buffer.from(jsonText(whole)), etag: null, lastModified: null };
  }
  return problemOf("pagesMany", `${pagesMax}`);
}

function documentOf(bytes: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A list that changes while it is paged has an animal twice or lacks one. */
function wholeProblem(
  records: readonly unknown[],
  { hasMore, total, idKey }: PageFacts,
): SourceProblem | undefined {
  const ids = new Set(
    records.map((record, at) =>
      isJsonObject(record) ? jsonText(record[idKey] ?? `at ${at}`) : at,
    ),
  );
  const expected = Number(total);
  if (hasMore || (Number.isFinite(expected) && ids.size !== expected)) {
    return problemOf("countWrong", String(total), `${ids.size}`);
  }
  return ids.size === 0 ? problemOf("returnedNone") : undefined;
}
