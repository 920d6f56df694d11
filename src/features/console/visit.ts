import type { Cookie } from "elysia";
import { bucketOf, clientAddress, isTrusted, parseAddress } from "../../domain/address.ts";
import type { Cidr } from "../../domain/address.ts";
import { dayMs, type Clock } from "../../domain/clock.ts";
import type { Sender } from "../../http/body.ts";
import type { Peers } from "../../http/context.ts";
import type { AddressLimiter } from "../../service/access.ts";
import type { Services } from "../../service/services.ts";
import type { Editing } from "../animals/changes.ts";
import type { AnimalActions, ChangeMade } from "./animals.ts";
import type { Html } from "../../web/html.ts";
import type { Form } from "./body.ts";
import type { Health } from "./pages/health.ts";
import type { Imports } from "./imports.ts";
import { messagePage, type Section } from "./pages/page.ts";
import type { PeopleService, Person } from "./people.ts";
import { exposureOf } from "./reach.ts";
import type { SourceActions } from "./pages/sources.ts";
import { languageFor, languages, type Language, type Words } from "./words/index.ts";

export interface Actions {
  readonly services: Services;
  readonly people: PeopleService;
  readonly imports: Imports;
  readonly sources: SourceActions;
  readonly health: Health;
  readonly animals: AnimalActions;
  readonly clock: Clock;
  readonly marks: (person: Person) => Promise<ReadonlySet<Section>>;
  /** Where everybody sees the animals, as far as that is known; undefined if they do not. */
  readonly publicPage: { readonly url: string | undefined; readonly port: number } | undefined;
}

export interface ConsoleOptions {
  readonly actions: Actions;
  /** Names that lead here: the hosts of `--console` and `--console-url`, and the machine's name. */
  readonly names: readonly string[];
  /** The address that people use where it is not the one that requests come to. */
  readonly publicOrigin: string | undefined;
  readonly isTls: boolean;
  readonly trustedProxies: readonly Cidr[];
  readonly report: (error: unknown) => void;
  readonly refused: (message: string) => void;
}

type Cookies = Readonly<Record<string, Cookie<unknown> | undefined>>;

export interface Arrival {
  readonly request: Request;
  /** Where the person is, and where the request came to: behind a proxy these may be two. */
  readonly url: URL;
  readonly sent: URL;
  readonly address: string;
  readonly sender: Sender;
  readonly isProxied: boolean;
  readonly isSecure: boolean;
  readonly cookies: Cookies;
  readonly language: Language;
  readonly words: Words;
  readonly nowMs: number;
  /** What was typed on the page: its fields have this in place of what is stored. */
  readonly typed?: Form | undefined;
}

export interface Visit extends Arrival, Omit<Actions, "marks"> {
  readonly person: Person;
  readonly marks: ReadonlySet<Section>;
  /** The address of the page whose form was sent; undefined where none was. */
  readonly at: string | undefined;
  readonly done?: Html | undefined;
  /** What was sent; it is empty where that is a file, or nothing. */
  readonly form: Form;
  /** Makes a change in their name; its number is undefined where nothing changed. */
  readonly change: (work: (by: Editing) => Promise<unknown>) => Promise<ChangeMade>;
  /** Makes what the form asks for, once. Undefined where nothing was made. */
  readonly once: (work: () => Promise<string | undefined>) => Promise<string | undefined>;
}

export class Recent<V> extends Map<string, V> {
  constructor(private readonly max: number) {
    super();
  }

  override set(key: string, value: V): this {
    this.delete(key);
    super.set(key, value);
    const [oldest = key] = this.keys();
    if (this.size > this.max) this.delete(oldest);
    return this;
  }
}

export type FormsDone = Recent<Promise<string | undefined>>;

/**
 * Does what a form asks for, or returns where it led: a response can be lost on the way to a phone,
 * and the same fields, of the same page and person, make nothing twice. Each page that makes
 * something has a number of its own among its fields.
 */
export function once(
  done: FormsDone,
  { id }: Person,
  path: string,
  form: Form,
  work: () => Promise<string | undefined>,
): Promise<string | undefined> {
  const text = JSON.stringify([id, path, [...form]]);
  const key = new Bun.CryptoHasher("sha256").update(text).digest("base64");
  const known = done.get(key);
  if (known !== undefined) return known;
  const doing = work();
  done.set(key, doing);
  // What was refused or failed is done again.
  const forget = () => done.delete(key);
  doing.then((led) => led ?? forget(), forget);
  return doing;
}

/** What somebody typed on a page, which has it when they see it next. */
interface WaitingForm {
  readonly path: string;
  readonly form: Form;
  /** True where their session had ended: they see the page after their next link. */
  readonly isLate: boolean;
}

export interface Frame {
  readonly options: ConsoleOptions;
  /** Counts wrong links and wrong cookies by address (an IPv6 /64 is one), a minute at a time. */
  readonly failures: AddressLimiter;
  readonly done: FormsDone;
  readonly waiting: Recent<WaitingForm>;
  readonly peers: WeakMap<Request, Peers>;
  /** The page that has the form of a path. A reload, Back and another language lead there. */
  readonly pageOf: (path: string) => string;
}

export function arrive(
  request: Request,
  cookies: Cookies,
  peers: Peers | undefined,
  { actions, publicOrigin, isTls, trustedProxies }: ConsoleOptions,
): Arrival {
  const { headers } = request;
  const peer = peers?.requestIP(request)?.address ?? "";
  const isProxied = isTrusted(peer, trustedProxies);
  const isSecure = isTls || (isProxied && headers.get("x-forwarded-proto") === "https");
  const sent = new URL(request.url);
  const url = new URL(publicOrigin ?? sent.origin);
  // Set, not resolved: a path such as //other.example/ would be taken for another origin.
  url.pathname = sent.pathname;
  url.search = sent.search;
  if (publicOrigin === undefined) url.protocol = isSecure ? "https:" : "http:";
  const address = clientAddress(peer, headers.get("x-forwarded-for"), trustedProxies);
  const bucket = bucketOf(address) ?? "";
  const language = languageFor(cookies[languageName]?.value, headers.get("accept-language"));
  return {
    request,
    url,
    sent,
    address,
    sender: { bucket: () => bucket, limitTime: (seconds) => peers?.timeout(request, seconds) },
    isProxied,
    isSecure,
    cookies,
    language,
    words: languages[language].words,
    nowMs: actions.clock(),
  };
}

/** Refuses what does not come from a browser that was led here on purpose. */
export function refusalOf(arrival: Arrival, options: ConsoleOptions): Response | undefined {
  const { request, words, address, isSecure, isProxied } = arrival;
  const { headers, method } = request;
  const refuse = (status: 421 | 403, text: string) => {
    options.refused(`A request from ${address} was refused: ${text}`);
    return messagePage(arrival, status, text);
  };
  // A certificate decides which names lead here, or a proxy without a public address.
  const isVouched = options.isTls || (isProxied && options.publicOrigin === undefined);
  if (!isKnownHost(headers.get("host"), options.names, isVouched)) {
    return refuse(421, words.failures.host);
  }
  if (!isSecure && !isProxied && exposureOf(address) === "public") {
    return refuse(403, words.failures.insecure);
  }
  const isRead = method === "GET" || method === "HEAD";
  const isFine = isRead ? isOpenable(headers) : isOwnOrigin(headers, ownOrigins(arrival));
  return isFine ? undefined : refuse(403, words.failures.origin);
}

/** The listener's own address is a page of ours too. The same host without HTTPS is not. */
function ownOrigins({ url, sent }: Arrival): readonly string[] {
  return sent.host === url.host ? [url.origin] : [url.origin, sent.origin];
}

/**
 * True when a page may be served under `host`, the value of a Host header. A page of a stranger can
 * make its own name lead to this machine (DNS rebinding); it cannot do so with an address or with a
 * name of ours.
 */
export function isKnownHost(
  host: string | null,
  names: readonly string[],
  isVouched: boolean,
): boolean {
  if (host === null || /[\s/\\@?#]/.test(host)) return false;
  const url = URL.parse(`http://${host}/`);
  if (url === null) return false;
  const name = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (isVouched || parseAddress(name) !== undefined) return true;
  return name === "localhost" || name.endsWith(".localhost") || names.includes(name);
}

/**
 * True when a change comes from a page of this origin. Every browser of today says so in `Origin`;
 * where that is missing, `Sec-Fetch-Site` must say it. A contradiction is a refusal.
 */
export function isOwnOrigin(headers: Headers, ownOrigins: readonly string[]): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin") return false;
  const origin = headers.get("origin");
  return origin === null ? site === "same-origin" : ownOrigins.includes(origin);
}

/** A link from elsewhere may open a page; it is no part of a stranger's page. */
export function isOpenable(headers: Headers): boolean {
  const site = headers.get("sec-fetch-site");
  if (site === null || site === "same-origin" || site === "none") return true;
  return (
    headers.get("sec-fetch-mode") === "navigate" && headers.get("sec-fetch-dest") === "document"
  );
}

const languageName = "rehome_language";
/** As long as a browser keeps any (RFC 6265bis). */
const languageDays = 400;

/** What every cookie of the console has: no script reads it, and no other site sends it. */
export function cookieAttributes({ isSecure }: Arrival) {
  return { path: "/", httpOnly: true, sameSite: "strict", secure: isSecure } as const;
}

/** Keeps the language in the browser, so that it holds before somebody joins too. */
export function keepLanguage(arrival: Arrival, value: string): void {
  const maxAge = (languageDays * dayMs) / 1_000;
  arrival.cookies[languageName]?.set({ ...cookieAttributes(arrival), value, maxAge });
}

export function query({ url }: Arrival, name: string): string {
  return (url.searchParams.get(name) ?? "").trim();
}

/** The address of a page without the origin. One that begins with // would lead to another host. */
export const pathOf = ({ url }: Pick<Arrival, "url">): string =>
  `/${url.pathname.replace(/^\/+/, "")}${url.search}`;

type Parameter = string | number | bigint | undefined;

/** A path with those parameters that have a value, before what stands behind its `#`. */
export function pathWith(
  path: string,
  parameters: Readonly<Record<string, Parameter | readonly Parameter[]>>,
): string {
  const pairs = Object.entries(parameters).flatMap(([name, values]) =>
    [values]
      .flat()
      .filter((each) => each !== undefined && each !== "")
      .map((each): [string, string] => [name, String(each)]),
  );
  if (pairs.length === 0) return path;
  const [page = "", place] = path.split("#");
  const address = `${page}${page.includes("?") ? "&" : "?"}${new URLSearchParams(pairs).toString()}`;
  return place === undefined ? address : `${address}#${place}`;
}

/** The page of the console that `text` leads to, or undefined if it leads to none. */
export function ownPage({ url }: Arrival, text: string): URL | undefined {
  const page = URL.parse(text, url.origin);
  // The path of /.//other.example is //other.example, which a browser takes for another host.
  if (page?.origin !== url.origin || page.pathname.startsWith("//")) return undefined;
  return page;
}
