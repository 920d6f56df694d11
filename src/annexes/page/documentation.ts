import type { OpenApiDocument } from "../../http/openapi/finalise.ts";
import { html, trusted, type Html } from "./html.ts";
import { logoMark, page, type Page } from "./layout.ts";
import { methodBadge, operationSection, operationsOf, type Operation } from "./operation.ts";
import { fieldList, fieldsOf, line, markdown, rulesOf, typeOf, type Schema } from "./schema.ts";
import script from "./documentation.client.js" with { type: "text" };
import style from "./documentation.css" with { type: "text" };

/** The document as a page to read and to try: complete without JavaScript, and sending requests with it. */
export function documentationPage(document: OpenApiDocument, documentPath: string): Page {
  // Relative, so that it also leads there where a proxy puts the service below a path.
  const documentLink = documentPath.slice(1);
  const { info, servers = [], components = {} } = document;
  const operations = operationsOf(document);
  const schemas = Object.entries(components.schemas ?? {}) as [string, Schema][];
  const { introduction, topics } = topicsOf(info.description ?? "");
  const body = html`<a class="skip" href="#content">Skip to content</a>
    ${header(info.version)}
    <div class="frame">
      ${navigation(operations, topics, schemas)}
      <main id="content">
        <section class="intro">
          <h1>${info.title} <span class="version">${info.version}</span></h1>
          ${markdown(introduction)}
          <dl class="addresses">
            ${servers.map(
              ({ url, description }) =>
                html`<div>
                  <dt>${description}</dt>
                  <dd><code>${url}</code></dd>
                </div>`,
            )}
            <div>
              <dt>OpenAPI document</dt>
              <dd><a href="${documentLink}">${documentPath}</a></dd>
            </div>
          </dl>
        </section>
        ${operations.map((operation) => operationSection(document, operation))}
        ${topics.map(({ id, text }) => html`<section class="topic" id="${id}">${proseOf(text)}</section>`)}
        <section class="schemas" id="schemas">
          <h2>Schemas</h2>
          ${schemas.map(([name, schema]) => schemaSection(document, name, schema))}
        </section>
      </main>
    </div>
    <footer>
      ${logoMark} rehome ${info.version} · OpenAPI ${document.openapi} ·
      <a href="${documentLink}">document</a>
    </footer>`;
  return page({
    title: `${info.title} ${info.version}`,
    description: line(introduction.split("\n\n", 1)[0] ?? "").text,
    style,
    script,
    body,
  });
}

function header(version: string): Html {
  return html`<header>
    <a class="brand" href="#content"
      >${logoMark}<span>rehome</span> <span class="version">${version}</span></a
    >
    <form class="key" autocomplete="off">
      <label for="key">API key</label>
      <span class="secret"
        ><input
          id="key"
          type="password"
          placeholder="paste it to try"
          spellcheck="false"
          autocapitalize="off"
          autocomplete="off"
          data-1p-ignore
          data-lpignore="true"
          aria-describedby="key-note"
        /><button type="button" id="show-key" aria-pressed="false">Show</button></span
      >
      <span id="key-note" class="note"
        >Sent to this service only, and forgotten when the page is left.</span
      >
    </form>
  </header>`;
}

interface Topic {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

/** The prose before the first heading, and what stands under each. */
function topicsOf(text: string): { introduction: string; topics: Topic[] } {
  const [introduction = "", ...rest] = text.split(/^## /m);
  const topics = rest.map((part) => {
    const title = part.split("\n", 1)[0] ?? "";
    return { id: title.toLowerCase(), title, text: `## ${part}` };
  });
  return { introduction, topics };
}

/** Prose whose tables can be scrolled by themselves on a narrow screen. */
function proseOf(text: string): Html {
  return trusted(
    markdown(text)
      .text.replaceAll("<table>", '<div class="table" tabindex="0"><table>')
      .replaceAll("</table>", "</table></div>"),
  );
}

function navigation(
  operations: readonly Operation[],
  topics: readonly Topic[],
  schemas: readonly [string, Schema][],
): Html {
  const operationLinks = operations.map(
    ({ id, method, summary, isDeprecated }) =>
      html`<li>
        <a href="#${id}" ${isDeprecated && trusted(' class="old"')}
          >${methodBadge(method)} <span>${summary}</span></a
        >
      </li>`,
  );
  const topicLinks = topics.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`);
  const schemaLinks = schemas.map(([name]) => html`<li><a href="#schema-${name}">${name}</a></li>`);
  return html`<nav aria-label="Contents">
    <h2>Operations</h2>
    <ul>
      ${operationLinks}
    </ul>
    <h2>Guide</h2>
    <ul>
      ${topicLinks}
    </ul>
    <h2>Schemas</h2>
    <ul>
      ${schemaLinks}
    </ul>
  </nav>`;
}

function schemaSection(document: OpenApiDocument, name: string, schema: Schema): Html {
  const fields = fieldsOf(schema);
  return html`<article id="schema-${name}">
    <h3>${name} <span class="type">${typeOf(document, schema)}</span></h3>
    <p>${line(schema.description ?? "")}${rulesOf(document, schema)}</p>
    ${fields.length > 0 && fieldList(document, fields)}
  </article>`;
}
