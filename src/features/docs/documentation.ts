import type { OpenApiDocument } from "./openapi/finalise.ts";
import { clientScript } from "./client.macro.ts" with { type: "macro" };
import { heading } from "./heading.ts";
import { html, type Html } from "./html.ts";
import { logoMark, page, type Page } from "./layout.ts";
import { contents } from "./contents.ts";
import { operationSection, operationsOf } from "./operation.ts";
import { quickStart } from "./quick-start.ts";
import { commonHeaderList } from "./responses.ts";
import { fieldList, fieldsOf, line, markdown, rulesOf, typeOf, type Schema } from "./schema.ts";
import { themeChoice } from "./theme.ts";
import type { Server } from "./try-form.ts";
import { isBeforeEndpoints, topicSection, topicsOf } from "./topic.ts";
import controls from "./controls.css" with { type: "text" };
import style from "./documentation.css" with { type: "text" };

const script = clientScript("docs/client/main.js");

/** The document as a page. It is complete without JavaScript, and sends requests with it. */
export function documentationPage(document: OpenApiDocument, documentPath: string): Page {
  // Relative, so that it also leads there where a proxy puts the service below a path.
  const documentLink = documentPath.slice(1);
  const { info, servers: named = [], components = {} } = document;
  const servers = named.map(({ url, description = url }) => ({ url, description }));
  const operations = operationsOf(document);
  const schemas = Object.entries(components.schemas ?? {}) as [string, Schema][];
  const { introduction, topics } = topicsOf(info.description ?? "");
  const before = topics.filter(isBeforeEndpoints);
  const after = topics.filter((topic) => !isBeforeEndpoints(topic));
  const body = html`<a class="skip" href="#content">Skip to content</a>
    ${header(info.version)}
    <div class="frame">
      ${contents(before, operations, after, schemas)}
      <main id="content">
        ${intro(document, introduction, servers, documentPath)} ${quickStart(document)}
        ${before.map(topicSection)}
        <section
          id="endpoints"
          class="group"
          data-words="operations methods routes paths reference"
        >
          ${heading(2, "endpoints", "Endpoints")}
          ${operations.map((operation) => operationSection(document, operation, servers))}
        </section>
        ${responsesSection(document)} ${after.map(topicSection)}
        <section class="schemas" id="schemas" data-words="models types objects fields">
          ${heading(2, "schemas", "Schemas")}
          ${schemas.map(([name, schema]) => schemaSection(document, name, schema))}
        </section>
      </main>
    </div>
    <footer>
      ${logoMark} rehome ${info.version} · OpenAPI ${document.openapi} ·
      <a href="${documentLink}">document</a>
    </footer>
    <p id="announcement" class="unseen" role="status"></p>`;
  return page({
    title: `${info.title} ${info.version}: API documentation`,
    description: line(introduction).text,
    style: controls + style,
    script,
    connect: servers.slice(1).map(({ url }) => new URL(url).origin),
    body,
  });
}

function intro(
  { info }: OpenApiDocument,
  text: string,
  servers: readonly Server[],
  documentPath: string,
): Html {
  return html`<section class="intro">
    <h1>${info.title} <span class="tag">${info.version}</span></h1>
    ${markdown(text)}
    <dl class="addresses">
      ${servers.map(({ url, description }) => address(description, html`<code>${url}</code>`))}
      ${address("OpenAPI document", html`<a href="${documentPath.slice(1)}">${documentPath}</a>, <a href="docs/yaml">/docs/yaml</a>`)}
    </dl>
  </section>`;
}

function address(name: string, value: Html): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
}

function header(version: string): Html {
  return html`<header>
    <a class="brand" href="#content"
      >${logoMark}<span>rehome</span> <span class="tag">${version}</span></a
    >
    <form class="search live" role="search" autocomplete="off">
      <label class="unseen" for="search">Search this page</label>
      <input
        id="search"
        type="search"
        placeholder="Search"
        aria-keyshortcuts="Control+K"
        aria-controls="found"
      /><kbd aria-hidden="true">Ctrl K</kbd>
      <ul id="found" hidden></ul>
    </form>
    <form class="key live" autocomplete="off">
      <label for="key">API key</label>
      <span class="secret"
        ><input
          id="key"
          type="password"
          placeholder="paste it to try"
          title="Sent only to the service, and forgotten when you leave the page"
          spellcheck="false"
          autocapitalize="off"
          autocomplete="off"
          data-1p-ignore
          data-lpignore="true"
          aria-describedby="key-note"
        /><button type="button" class="quiet" id="show-key" aria-pressed="false">Show</button></span
      >
      <span id="key-note" class="unseen"
        >Sent only to the service, and forgotten when you leave the page.</span
      >
    </form>
    ${themeChoice}
  </header>`;
}

function responsesSection(document: OpenApiDocument): Html {
  return html`<section id="responses" data-words="headers status answers json">
    ${heading(2, "responses", "Responses")}
    <p>
      Every response is JSON, a refusal too (see <a href="#errors">Errors</a>), and carries these
      headers:
    </p>
    ${commonHeaderList(document)}
  </section>`;
}

function schemaSection(document: OpenApiDocument, name: string, schema: Schema): Html {
  const fields = fieldsOf(schema);
  return html`<article id="schema-${name}">
    ${heading(3, `schema-${name}`, name, html` <span class="type">${typeOf(document, schema)}</span>`)}
    <p>${line(schema.description ?? "")}${rulesOf(document, schema)}</p>
    ${fields.length > 0 && fieldList(document, fields)}
  </article>`;
}
