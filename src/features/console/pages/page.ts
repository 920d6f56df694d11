/** What every page has around it, and the pages that say one thing. */
import { Elysia, redirect } from "elysia";
import { AppError } from "../../../domain/errors.ts";
import { statusOf } from "../../../http/errors.ts";
import { clientScript } from "../../../web/client.macro.ts" with { type: "macro" };
import controls from "../../../web/controls.css" with { type: "text" };
import { formFor, formsOf } from "../../../web/encodings.ts";
import { html, trusted, type Html } from "../../../web/html.ts";
import logo from "../../../web/logo.svg" with { type: "text" };
import shared from "../../../web/shared.css" with { type: "text" };
import style from "../console.css" with { type: "text" };
import { pathOf, pathWith, type Arrival, type Visit } from "../visit.ts";
import { isFailureCode, languages } from "../words/index.ts";
import * as ui from "./ui.ts";

const files = {
  "style.css": ["text/css; charset=utf-8", shared + controls + style],
  "script.js": ["text/javascript; charset=utf-8", clientScript("console/client/main.js")],
  "icon.svg": ["image/svg+xml", logo.replaceAll("currentColor", "#0f766e")],
} as const;
type AssetName = keyof typeof files;
const names = Object.keys(files) as AssetName[];

/** The paths of the console's files change with the bytes, so that a browser may keep them. */
export const assetPaths = Object.fromEntries(
  names.map((name) => {
    const hash = new Bun.CryptoHasher("sha256").update(files[name][1]).digest("hex").slice(0, 12);
    return [name, `/assets/${name.replace(".", `-${hash}.`)}`];
  }),
) as Readonly<Record<AssetName, string>>;

export const assets = new Elysia({ name: "assets" });
for (const name of names) {
  const [type, text] = files[name];
  const headers = { "content-type": type, "cache-control": "public, max-age=31536000, immutable" };
  let forms: ReturnType<typeof formsOf> | undefined;
  assets.get(assetPaths[name], async ({ request }) => {
    const [body, init] = formFor(request, await (forms ??= formsOf(text)), headers);
    return new Response(body, init);
  });
}

export type Section = "animals" | "import" | "categories" | "keys" | "health" | "people";

interface PlainParts {
  readonly title: string;
  readonly body: Html;
  readonly status?: number | undefined;
}

interface PageParts extends PlainParts {
  readonly section?: Section;
  readonly beside?: Html | undefined;
  /** The page above this one, if it is another than that of the section. */
  readonly back?: readonly [path: string, text: string];
  readonly done?: Html | undefined;
  readonly errors?: ui.FieldErrors;
  /** Seconds after which a browser without a script asks again. */
  readonly refreshSeconds?: number | undefined;
  /** True for a page with a secret, which another language would not show again. */
  readonly isOnce?: boolean;
  /** The address of the page's form, where the page came from another one. */
  readonly at?: string | undefined;
}

const icons = {
  animals:
    '<path d="M12 13c2.4 0 4.6 2.8 4.6 4.6 0 1.4-1.1 1.9-2.2 1.9-.9 0-1.6-.4-2.4-.4s-1.5.4-2.4.4c-1.1 0-2.2-.5-2.2-1.9C7.4 15.8 9.6 13 12 13Z"/><ellipse cx="6.2" cy="11.8" rx="1.4" ry="1.9"/><ellipse cx="9.8" cy="7.8" rx="1.4" ry="2"/><ellipse cx="14.2" cy="7.8" rx="1.4" ry="2"/><ellipse cx="17.8" cy="11.8" rx="1.4" ry="1.9"/>',
  import:
    '<path d="M12 4v9m0 0 3.5-3.5M12 13 8.5 9.5M4.5 14v4a2 2 0 0 0 2 2h11a2 2 0 0 0 2-2v-4"/>',
  categories:
    '<path d="M4 11.5V5a1 1 0 0 1 1-1h6.5a2 2 0 0 1 1.4.6l6.5 6.5a2 2 0 0 1 0 2.8l-5.5 5.5a2 2 0 0 1-2.8 0L4.6 12.9A2 2 0 0 1 4 11.5Z"/><circle cx="8.5" cy="8.5" r="1.2"/>',
  keys: '<circle cx="8" cy="15.5" r="4"/><path d="m11 12.5 8-8m-3.5 3.5 3 3M13.5 10l1.8 1.8"/>',
  health: '<path d="M3.5 12.5h4l2.5-7 4 13 2.5-6h4"/>',
  people:
    '<circle cx="9" cy="8.5" r="3.2"/><path d="M3 19.5c.4-3.3 2.8-5.5 6-5.5s5.6 2.2 6 5.5M15.5 5.6a3.2 3.2 0 0 1 0 5.8M17.5 14.4c2 .8 3.2 2.6 3.5 5.1"/>',
} as const;

export function icon(name: keyof typeof icons): Html {
  return trusted(
    `<svg class="icon" viewBox="0 0 24 24" width="24" height="24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${icons[name]}</svg>`,
  );
}

const staffSections = ["animals", "import", "categories"] as const;
const operatorSections = [...staffSections, "keys", "health", "people"] as const;

function sectionLink({ words, marks }: Visit, name: Section, isHere: boolean): Html {
  const mark = html`<span id="mark-${name}" hidden>${words.layout.mark}</span
    ><strong class="mark" aria-hidden="true">!</strong>`;
  const isMarked = marks.has(name);
  return ui.link(
    `/${name}`,
    html`${icon(name)}<span>${words.sections[name]}</span>${isMarked && mark}`,
    { "aria-current": isHere && "page", "aria-describedby": isMarked && `mark-${name}` },
  );
}

export function page(visit: Visit, parts: PageParts): Response {
  const { words, person } = visit;
  const { title, section, beside, done = visit.done, errors = {}, isOnce = false } = parts;
  const { at = visit.at } = parts;
  const isWithin = section !== undefined && (at ?? visit.sent.pathname) !== `/${section}`;
  const back = parts.back ?? (isWithin && ([`/${section}`, words.sections[section]] as const));
  const sections = person.role === "operator" ? operatorSections : staffSections;
  return documentOf(
    visit,
    { ...parts, at, status: parts.status ?? (ui.isWrong(errors) ? 400 : 200) },
    html`<a class="skip" href="#main">${words.layout.skip}</a>
      <header>
        <a class="brand" href="/animals">${trusted(logo)}<span>rehome</span></a>
        <div class="row">
          <span class="soft">${person.name}</span>
          ${ui.link("/sign-out", words.layout.signOut, { class: "button small" })}
        </div>
      </header>
      <div class="frame">
        <nav class="sections" aria-label="${words.layout.sections}">
          ${sections.map((name) => sectionLink(visit, name, name === section))}
        </nav>
        <main id="main" tabindex="-1">
          ${back && html`<p class="trail">${ui.link(back[0], `← ${back[1]}`)}</p>`}
          <h1>${title}${beside && html` ${beside}`}</h1>
          <div id="notices">
            ${done} ${errors[""] !== undefined && ui.notice("bad", errors[""])}
          </div>
          ${parts.body}
        </main>
      </div>
      ${!isOnce && foot(visit, { at, body: parts.body })}`,
  );
}

interface Asked extends Pick<PageParts, "title" | "section" | "back"> {
  readonly above?: Html;
  readonly sure?: string;
  readonly does?: Html;
}

export function askPage(visit: Visit, { above, sure, does, ...parts }: Asked): Response {
  const asked = html`<p>${sure}</p>
    ${does}`;
  return page(visit, { ...parts, body: html`${above}${does && ui.narrow(asked)}` });
}

export function plainPage(arrival: Arrival, parts: PlainParts): Response {
  return documentOf(
    arrival,
    parts,
    html`<main id="main" class="alone" tabindex="-1">
        <p class="brand">${trusted(logo)}<span>rehome</span></p>
        <h1>${parts.title}</h1>
        ${parts.body}
      </main>
      ${foot(arrival, parts)}`,
  );
}

function documentOf(
  arrival: Arrival,
  { title, refreshSeconds, at, status = 200 }: Omit<PageParts, "section">,
  body: Html,
): Response {
  const { language, words, typed } = arrival;
  const data = {
    "data-late": words.layout.late,
    "data-copied": words.layout.copied,
    "data-page": at,
    "data-typed": typed !== undefined && hasForm(body),
    "data-failed": status >= 401,
  };
  const { text } = html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · rehome</title>
        <link rel="icon" href="${assetPaths["icon.svg"]}" />
        <link rel="stylesheet" href="${assetPaths["style.css"]}" />
        ${
          refreshSeconds !== undefined &&
          html`<noscript><meta http-equiv="refresh" content="${refreshSeconds}" /></noscript>`
        }
        <script type="module" src="${assetPaths["script.js"]}"></script>
      </head>
      <body${ui.attributes(data)}>${body}</body>
    </html> `;
  return new Response(text, { status, headers: { "content-type": "text/html; charset=utf-8" } });
}

/** What people write is escaped: no name looks like the mark of a form. */
const hasForm = (body: Html): boolean => body.text.includes(`id="${ui.formId}"`);

const sending = {
  form: ui.formId,
  formmethod: "post",
  formenctype: "application/x-www-form-urlencoded",
  formnovalidate: true,
};

/** The languages: their buttons send the form of the page, which comes back as it was. */
function foot(arrival: Arrival, { at, body }: Pick<PageParts, "at" | "body">): Html {
  const back = at ?? pathOf(arrival);
  const isSent = hasForm(body);
  const buttons = Object.entries(languages).map(([code, { title }]) =>
    code === arrival.language
      ? html`<span lang="${code}">${title}</span>`
      : ui.button(title, {
          class: "quiet small",
          lang: code,
          formaction: pathWith(`/language/${code}`, { back }),
          ...(isSent && sending),
        }),
  );
  return html`<footer>
    ${isSent ? buttons : html`<form method="post" class="row">${buttons}</form>`}
    <span>rehome</span>
  </footer>`;
}

export const seeOther = (path: string): Response => redirect(path, 303);

export function messagePage(
  visit: Arrival & Partial<Visit>,
  status: number,
  text: string,
): Response {
  const { title, start } = visit.words.failures;
  if (!isSignedIn(visit)) return plainPage(visit, { title, status, body: html`<p>${text}</p>` });
  return page(visit, {
    title,
    status,
    body: html`${ui.notice("bad", text)}
      <p>${ui.link("/animals", start)}</p>`,
  });
}

const isSignedIn = (visit: Arrival & Partial<Visit>): visit is Visit => visit.person !== undefined;

/** What an address or a form names. Throws for the page that says that there is none. */
export function orNotFound<T>(found: T | undefined): T {
  if (found !== undefined) return found;
  throw new AppError("not_found", "There is no such page, animal, key or person.");
}

export function signedOutPage(arrival: Arrival, page: string, waits = false): Response {
  const { words } = arrival;
  return plainPage(arrival, {
    title: words.signedOut.title,
    status: 401,
    body: html`${waits && ui.notice("plain", words.signedOut.waits)}
      <p>${words.signedOut.what}</p>
      <p>${ui.link(page, words.signedOut.again)}</p>`,
  });
}

/** What a person sees of a failure. What is the service's own fault goes to `report`. */
export function failurePage(
  visit: Arrival & Partial<Visit>,
  error: unknown,
  report: (error: unknown) => void,
): Response {
  const { failures } = visit.words;
  if (!(error instanceof AppError)) {
    report(error);
    return messagePage(visit, 500, failures.failed);
  }
  const { kind, code, message } = error;
  const known = isFailureCode(code) ? failures[code] : undefined;
  if (known === undefined && kind === "unavailable") report(error);
  const said = known ?? (kind === "not_found" ? failures.notFound : failures.other(message));
  const text = kind === "unavailable" ? `${said} ${failures.later}` : said;
  return messagePage(visit, statusOf[kind], text);
}
