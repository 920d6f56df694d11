import { heading } from "./heading.ts";
import { html, trusted, type Html } from "./html.ts";
import { markdown } from "./schema.ts";

/** A part of the document's prose under a heading. */
export interface Topic {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

/** Words that people search for and that do not stand in the prose. */
const otherWords: Readonly<Record<string, string>> = {
  authentication: "authorization login token bearer credential",
  "rate-limits": "throttling quota 429 too many requests",
  pagination: "paging cursor keyset offset pages",
  errors: "problems failures status codes",
  numbers: "int64 bigint integers precision",
  versioning: "versions deprecation sunset changelog",
};

/** What a reader needs before the first request: it stands before the reference, on a phone too. */
export function isBeforeEndpoints({ id }: Topic): boolean {
  return id === "authentication" || id === "rate-limits";
}

/** The prose before the first heading, and what stands under each. */
export function topicsOf(text: string): { introduction: string; topics: Topic[] } {
  const [introduction = "", ...rest] = text.split(/^## /m);
  const topics = rest.map((part) => {
    const title = part.split("\n", 1)[0] ?? "";
    return {
      id: title.toLowerCase().replaceAll(" ", "-"),
      title,
      text: part.slice(title.length),
    };
  });
  return { introduction, topics };
}

export function topicSection({ id, title, text }: Topic): Html {
  return html`<section class="topic" id="${id}" data-words="${otherWords[id] ?? ""}">
    ${heading(2, id, title)} ${proseOf(text, title)}
  </section>`;
}

/** Prose whose tables can be scrolled by themselves on a narrow screen, with the keyboard too. */
function proseOf(text: string, title: string): Html {
  const wrapped = markdown(text).text.replace(/<table>.*?<\/table>/gs, (table) => {
    const [, first = ""] = /<th[^>]*>(.*?)<\/th>/.exec(table) ?? [];
    return html`<div class="table" tabindex="0" role="region" aria-label="${title}: ${first}">
      ${trusted(table)}
    </div>`.text;
  });
  return trusted(wrapped);
}
