import { html, trusted, type Html } from "./html.ts";
import { methodBadge, type Operation } from "./operation.ts";
import type { Schema } from "./schema.ts";
import type { Topic } from "./topic.ts";

/** Where everything of the page is, in its order. */
export function contents(
  before: readonly Topic[],
  operations: readonly Operation[],
  after: readonly Topic[],
  schemas: readonly [string, Schema][],
): Html {
  const topics = (list: readonly Topic[]) => list.map(({ id, title }) => link(id, html`${title}`));
  const operationLinks = operations.map(({ id, method, summary, isDeprecated }) =>
    link(id, html`${methodBadge(method)} <span>${summary}</span>`, isDeprecated),
  );
  const groups = [
    group("Start", [link("quick-start", html`Quick start`), ...topics(before)]),
    group("Endpoints", operationLinks),
    group("Guide", [link("responses", html`Responses`), ...topics(after)]),
    group(
      "Schemas",
      schemas.map(([name]) => link(`schema-${name}`, html`${name}`)),
    ),
  ];
  return html`<nav aria-label="Contents">${groups}</nav>`;
}

function link(id: string, text: Html, isOld = false): Html {
  return html`<li><a href="#${id}" ${isOld && trusted(' class="old"')}>${text}</a></li>`;
}

function group(title: string, links: readonly Html[]): Html {
  return html`<p id="contents-${title.toLowerCase()}">${title}</p>
    <ul aria-labelledby="contents-${title.toLowerCase()}">
      ${links}
    </ul>`;
}
