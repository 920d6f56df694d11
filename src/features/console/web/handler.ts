import { AppError } from "../../../domain/errors.ts";
import type { Desk } from "../desk.ts";
import { exposureOf } from "../exposure.ts";
import { Failures } from "../failures.ts";
import type { Person } from "../people.ts";
import {
  failurePage,
  messagePage,
  notFoundPage,
  plainFailurePage,
  plainMessagePage,
  signedOutPage,
} from "../pages/failures.ts";
import { join, joinPage } from "../pages/join.ts";
import { routes } from "../pages/routes.ts";
import { languageFor, languages } from "../words/index.ts";
import { redirect, statusOf } from "./answer.ts";
import { assetAt } from "./assets.ts";
import { ConsoleError } from "./console-error.ts";
import {
  endedCookie,
  languageCookie,
  sentLanguage,
  sentSession,
  sessionCookie,
} from "./cookies.ts";
import { Form, readForm } from "./forms.ts";
import { isKnownHost, isOpenable, isOwnOrigin, type KnownHosts } from "./origin.ts";
import { router } from "./router.ts";
import type { Origin } from "./server.ts";
import { ownPage, type Arrival, type Visit } from "./visit.ts";

interface HandlerOptions {
  readonly desk: Desk;
  readonly hosts: KnownHosts;
  /** The address that people use where it is not the one that requests come to. */
  readonly publicOrigin: string | undefined;
  /** True if the operator wants plain HTTP from public addresses: a proxy vouches for it. */
  readonly isBehindProxy: boolean;
  readonly report: (error: unknown) => void;
  readonly warn: (message: string) => void;
}

const noForm = new Form(new URLSearchParams());
const find = router(routes);

/** Answers the console's requests. What is refused is refused before anything of it is read. */
export function consoleHandler(
  options: HandlerOptions,
): (request: Request, origin: Origin) => Promise<Response> {
  const failures = new Failures(options.desk.clock);
  return async (request, origin) => {
    const arrival = arrive(request, origin, options);
    try {
      return refused(arrival, options) ?? (await answer(arrival, failures, options));
    } catch (error) {
      if (!(error instanceof ConsoleError)) options.report(error);
      return plainFailurePage(arrival, error);
    }
  };
}

function arrive(
  request: Request,
  { address, isSecure, bePatient }: Origin,
  { desk, publicOrigin }: HandlerOptions,
): Arrival {
  const sent = URL.parse(request.url) ?? new URL("http://invalid/");
  const url = new URL(publicOrigin ?? sent.origin);
  // Set, not resolved: a path such as //other.example/ would be taken for another origin.
  url.pathname = sent.pathname;
  url.search = sent.search;
  if (publicOrigin === undefined) url.protocol = isSecure ? "https:" : "http:";
  const { headers } = request;
  const language = languageFor(sentLanguage(headers), headers.get("accept-language"));
  const { words } = languages[language];
  return { request, url, sent, address, isSecure, bePatient, language, words, nowMs: desk.clock() };
}

/** Refuses what does not come from a browser that was led here on purpose. */
function refused(arrival: Arrival, options: HandlerOptions): Response | undefined {
  const { request, words, address, isSecure } = arrival;
  const { headers, method } = request;
  const refuse = (status: "misdirected" | "forbidden", text: string) => {
    options.warn(`A request from ${address} was refused: ${text}`);
    return plainMessagePage(arrival, status, text);
  };
  if (!isKnownHost(headers.get("host"), options.hosts)) {
    return refuse("misdirected", words.failures.host);
  }
  if (!isSecure && !options.isBehindProxy && exposureOf(address) === "public") {
    return refuse("forbidden", words.failures.insecure);
  }
  const isRead = method === "GET" || method === "HEAD";
  const isFine = isRead ? isOpenable(headers) : isOwnOrigin(headers, ownOrigins(arrival));
  return isFine ? undefined : refuse("forbidden", words.failures.origin);
}

/** The listener's own address is a page of ours too. The same host without HTTPS is not. */
function ownOrigins({ url, sent }: Arrival): readonly string[] {
  return sent.host === url.host ? [url.origin] : [url.origin, sent.origin];
}

async function answer(
  arrival: Arrival,
  failures: Failures,
  { desk, report, warn }: HandlerOptions,
): Promise<Response> {
  const { request, url } = arrival;
  const { method } = request;
  const asset = method === "POST" ? undefined : assetAt(url.pathname);
  if (asset !== undefined) return asset;
  if (method === "POST" && url.pathname === "/language") return chooseLanguage(arrival);
  const [, token] = /^\/join\/([^/]+)$/.exec(url.pathname) ?? [];
  if (token !== undefined) {
    const visit = { ...arrival, desk, failures, token };
    return method === "POST" ? join(visit) : joinPage(visit);
  }
  const { headers } = request;
  const session = sentSession(headers, arrival.isSecure);
  // A browser sends no cookie after a link on another site: that session goes on.
  if (session === undefined) return signedOut(arrival, {});
  const found = session === "malformed" ? undefined : await desk.people.find(session);
  if (found === undefined || session === "malformed") {
    const seconds = failures.blockedSeconds(arrival.address);
    failures.note(arrival.address);
    if (seconds === undefined) {
      return signedOut(arrival, { "set-cookie": endedCookie(arrival.isSecure) });
    }
    warn(`Too many wrong sessions from ${arrival.address}.`);
    return plainMessagePage(arrival, "tooMany", arrival.words.failures.tooMany, {
      "retry-after": String(seconds),
    });
  }
  if (method === "POST" && url.pathname === "/sign-out") {
    await desk.people.signOut(session);
    return redirect("/", { "set-cookie": endedCookie(arrival.isSecure) });
  }
  const response = await signedIn({ ...arrival, desk, person: found.person }, report);
  if (found.isRenewed) {
    response.headers.append("set-cookie", sessionCookie(session, arrival.isSecure));
  }
  return response;
}

/** What was filled in is kept on the page; a file is not. */
async function signedOut(
  arrival: Arrival,
  ended: Readonly<Record<string, string>>,
): Promise<Response> {
  const { request } = arrival;
  const type = request.headers.get("content-type") ?? "";
  const isForm = type.startsWith("application/x-www-form-urlencoded");
  return signedOutPage(arrival, isForm ? await readForm(request) : undefined, ended);
}

async function signedIn(
  visit: Omit<Visit, "form" | "params"> & { readonly person: Person },
  report: (error: unknown) => void,
): Promise<Response> {
  const { request, url, person } = visit;
  const empty: Visit = { ...visit, params: {}, form: noForm };
  const match = find(request.method, url.pathname);
  if (match.route === undefined) {
    if (match.allowed.length === 0) return notFoundPage(empty);
    if (["GET", "HEAD"].includes(request.method)) return redirect(pageAbove(url.pathname));
    const page = notFoundPage(empty);
    page.headers.set("allow", match.allowed.join(", "));
    return new Response(page.body, { status: statusOf.wrongMethod, headers: page.headers });
  }
  const { route, params } = match;
  if (route.role === "operator" && person.role !== "operator") {
    return messagePage(empty, "forbidden", visit.words.failures.forbidden);
  }
  try {
    const readsForm = request.method === "POST" && route.isUpload !== true;
    const form = readsForm ? await readForm(request) : noForm;
    return await route.handle({ ...visit, params, form });
  } catch (error) {
    const isOwn = error instanceof AppError && error.kind !== "unavailable";
    if (!isOwn && !(error instanceof ConsoleError)) report(error);
    return failurePage(empty, error);
  }
}

/**
 * The page that has the form of `path`, which takes POST only. A reload, Back and another language
 * lead there, and so does a link on the page of somebody who was signed out.
 */
function pageAbove(path: string): string {
  const above = path.replace(/\/[^/]*$/, "") || "/";
  return find("GET", above).route === undefined ? pageAbove(above) : above;
}

/** `POST /language`: kept by the browser, so that it holds before somebody joins too. */
async function chooseLanguage(arrival: Arrival): Promise<Response> {
  const form = await readForm(arrival.request);
  const language = form.text("language");
  const back = ownPage(arrival, form.text("back"));
  const path = back === undefined ? "/" : back.pathname + back.search;
  return Object.hasOwn(languages, language)
    ? redirect(path, { "set-cookie": languageCookie(language, arrival.isSecure) })
    : redirect(path);
}
