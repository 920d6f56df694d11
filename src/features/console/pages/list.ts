import { html, type Html } from "../../docs/html.ts";
import type { Visit } from "../web/visit.ts";
import { icon } from "./icons.ts";

/** What is on a list that is searched as one types, and comes a page at a time. */
export interface SearchParts {
  /** The path of the page. */
  readonly action: string;
  readonly text: string;
  readonly hint: string;
  /** Other choices, which a search keeps. */
  readonly more?: Html;
}

/** The search of a list whose results are the element `results`. */
export function searchForm({ words }: Visit, { action, text, hint, more }: SearchParts): Html {
  return html`<form class="search" action="${action}" data-live="results">
    <label for="q">${words.fields.search}</label>
    <div class="with-icon">
      ${icon("search")}<input
        id="q"
        name="q"
        type="search"
        value="${text}"
        placeholder="${hint}"
        autocomplete="off"
        data-key="/"
      /><button class="quiet">${words.buttons.find}</button>
    </div>
    ${more}
  </form>`;
}

/** The links below a list, those that lead somewhere. */
export function pageLinks(
  { words }: Visit,
  links: readonly (readonly [path: string | false | undefined, text: string])[],
): Html {
  return html`<nav class="pages" aria-label="${words.animals.pages}">
    ${links.flatMap(([path, text]) => (path ? [html`<a href="${path}">${text}</a>`] : []))}
  </nav>`;
}
