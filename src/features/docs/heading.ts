import { html, type Html } from "./html.ts";

/** A heading and a link to it. `more` stands behind the title, not in the link's name. */
export function heading(level: 2 | 3, id: string, title: string, more: Html | false = false): Html {
  const content = html`${title}${more}`;
  const link = html`<a class="anchor" href="#${id}" aria-label="Link to ${title}"></a>`;
  return level === 2
    ? html`<div class="heading">
        <h2>${content}</h2>
        ${link}
      </div>`
    : html`<div class="heading">
        <h3>${content}</h3>
        ${link}
      </div>`;
}
