import { html, trusted, type Html } from "../../docs/html.ts";
import logo from "../../docs/logo.svg" with { type: "text" };
import { assetPaths } from "../web/assets.ts";
import { pageAnswer, type Headers, type StatusName } from "../web/answer.ts";
import type { Arrival, Visit } from "../web/visit.ts";
import { languages } from "../words/index.ts";
import { icon, type IconName } from "./icons.ts";
import type { FieldErrors } from "./parts.ts";

type Section =
  "animals" | "import" | "categories" | "keys" | "usage" | "health" | "people" | "help";

/** The sections of the console in the order of its navigation; operators see all. */
const sections: readonly {
  readonly name: Exclude<Section, "help">;
  readonly path: string;
  readonly icon: IconName;
  readonly isOperators: boolean;
}[] = [
  { name: "animals", path: "/animals", icon: "paw", isOperators: false },
  { name: "import", path: "/import", icon: "inbox", isOperators: false },
  { name: "categories", path: "/categories", icon: "tag", isOperators: false },
  { name: "keys", path: "/keys", icon: "key", isOperators: true },
  { name: "usage", path: "/usage", icon: "chart", isOperators: true },
  { name: "health", path: "/health", icon: "pulse", isOperators: true },
  { name: "people", path: "/people", icon: "people", isOperators: true },
];

interface PageParts {
  readonly title: string;
  readonly section: Section;
  readonly body: Html;
  readonly status?: StatusName;
  /** What is wrong in its form: the request was not valid. */
  readonly errors?: FieldErrors;
  readonly headers?: Headers;
  /** Seconds after which a browser without a script asks again. */
  readonly refreshSeconds?: number | undefined;
  /** True for a page with a secret, which another language would not show again. */
  readonly isOnce?: boolean;
}

/** A page of the console, as the person who asked for it sees it. */
export function consolePage(visit: Visit, parts: PageParts): Response {
  const { words, person } = visit;
  const body = html`<a class="skip" href="#main">${words.layout.skip}</a>
    <header>
      <a class="brand" href="/animals">${trusted(logo)}<span>rehome</span></a>
      <div class="me">
        <span class="who">${person.name}</span>
        <a class="round" href="/help" data-key="?" aria-label="${words.layout.help}">?</a>
        <form method="post" action="/sign-out">
          <button class="quiet small">${words.layout.signOut}</button>
        </form>
      </div>
    </header>
    <div class="frame">
      <nav class="sections" aria-label="${words.layout.sections}">
        ${sections
          .filter(({ isOperators }) => !isOperators || person.role === "operator")
          .map(
            ({ name, path, icon: shape }) =>
              html`<a
                href="${path}"
                ${name === parts.section ? trusted('aria-current="page"') : undefined}
                >${icon(shape)}<span>${words.sections[name]}</span></a
              >`,
          )}
      </nav>
      <main id="main" tabindex="-1">${parts.body}</main>
    </div>
    ${parts.isOnce !== true && foot(visit)}`;
  return documentOf(visit, parts, body);
}

/** A page for somebody who is not signed in. */
export function plainPage(arrival: Arrival, parts: Omit<PageParts, "section">): Response {
  const body = html`<main id="main" class="alone" tabindex="-1">
      <p class="brand">${trusted(logo)}<span>rehome</span></p>
      ${parts.body}
    </main>
    ${foot(arrival)}`;
  return documentOf(arrival, parts, body);
}

function documentOf(
  { language, words }: Arrival,
  { title, refreshSeconds, errors = {}, status, headers = {} }: Omit<PageParts, "section">,
  body: Html,
): Response {
  const isWrong = Object.keys(errors).length > 0;
  const page = html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="description" content="${words.layout.description}" />
        <title>${title} · rehome</title>
        <link rel="icon" href="${assetPaths.icon}" />
        <link rel="stylesheet" href="${assetPaths.style}" />
        ${
          refreshSeconds === undefined
            ? undefined
            : html`<noscript><meta http-equiv="refresh" content="${refreshSeconds}" /></noscript>`
        }
        <script type="module" src="${assetPaths.script}"></script>
      </head>
      <body
        data-lost="${words.layout.lost}"
        data-late="${words.layout.late}"
        data-copied="${words.layout.copied}"
      >
        ${body}
      </body>
    </html> `;
  return pageAnswer(page, status ?? (isWrong ? "invalid" : "ok"), headers);
}

/** The choice of the language: a form, as it changes what the browser keeps. */
function foot({ language, words, url }: Arrival): Html {
  return html`<footer>
    <form method="post" action="/language">
      <input type="hidden" name="back" value="${url.pathname + url.search}" />
      ${Object.entries(languages).map(([code, { title }]) =>
        code === language
          ? html`<span lang="${code}">${title}</span>`
          : html`<button class="link" name="language" value="${code}" lang="${code}">
              ${title}
            </button>`,
      )}
      <span>${words.layout.footer}</span>
    </form>
  </footer>`;
}
