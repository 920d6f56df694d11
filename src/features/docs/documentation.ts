import { keyPrefixes } from "../../domain/api-key.ts";
import { clientScript } from "../../web/client.macro.ts" with { type: "macro" };
import { html, trusted, type Html } from "../../web/html.ts";
import { logoMark, page, type Page } from "../../web/layout.ts";
import type { OpenAPIV3 } from "openapi-types";
import {
  copyButton,
  fieldList,
  fieldsOf,
  heading,
  headerFields,
  line,
  markdown,
  methodBadge,
  operationSection,
  operationsOf,
  resolved,
  rulesOf,
  typeOf,
  type Operation,
  type Schema,
} from "./operation.ts";
import { commonHeaders, type OpenApiDocument } from "./document.ts";
import { sampleOf } from "./samples.ts";
import controls from "../../web/controls.css" with { type: "text" };
import style from "./documentation.css" with { type: "text" };

const script = clientScript("docs/client.js");

/** The document as a page. It is complete without JavaScript, and sends requests with it. */
export function documentationPage(
  document: OpenApiDocument,
  guides: string | undefined,
  more: readonly string[] = [],
): Page {
  const { info, servers = [] } = document;
  const base = shownAs(servers[0]?.url ?? "");
  const whole = resolved(document);
  const operations = operationsOf(whole);
  const schemas = Object.entries(whole.components.schemas);
  const { introduction, topics } = topicsOf([info.description, ...more].join("\n"));
  const before = topics.filter(isBeforeEndpoints);
  const after = topics.filter((topic) => !isBeforeEndpoints(topic));
  const body = html`<a class="skip" href="#content">Skip to content</a>
    ${header(info.version)}
    <div class="frame">
      ${contents(before, operations, after, schemas)}
      <main id="content">
        <section class="intro">
          <h1>${info.title} <span class="tag">${info.version}</span></h1>
          ${markdown(introduction)} ${addresses(servers, guides)}
        </section>
        ${quickStart(whole.components.schemas["NewPet"]?.example, base)} ${before.map(topicSection)}
        <section id="endpoints" class="group">
          ${heading(2, "endpoints", "Endpoints")}
          ${operations.map((operation) => operationSection(operation, base))}
        </section>
        ${responsesSection(whole.components.headers)} ${after.map(topicSection)}
        <section class="schemas" id="schemas">
          ${heading(2, "schemas", "Schemas")} ${schemas.map(schemaArticle)}
        </section>
      </main>
    </div>
    <footer>
      ${logoMark} rehome ${info.version} · OpenAPI ${document.openapi} ·
      <a href="docs/json">document</a>
    </footer>
    <p id="announcement" class="unseen" role="status"></p>`;
  return page({
    title: `${info.title} ${info.version}: API documentation`,
    description: line(introduction).text,
    style: controls + style,
    script,
    body,
  });
}

/** The page's script replaces HOST by where it is read, which is right behind any proxy. */
const shownAs = (url: string) => (url.startsWith("/") ? `http://HOST${url}` : url);

function header(version: string): Html {
  return html`<header>
    <a class="brand" href="#content"
      >${logoMark}<span>rehome</span> <span class="tag">${version}</span></a
    >
    <div class="key live">
      <label for="key">API key</label>
      <input
        id="key"
        type="password"
        placeholder="paste it to try"
        title="Sent only to the service, and forgotten when you leave the page"
        spellcheck="false"
        autocapitalize="off"
        autocomplete="off"
        data-1p-ignore
        data-lpignore="true"
      />
    </div>
  </header>`;
}

function contents(
  before: readonly Topic[],
  operations: readonly Operation[],
  after: readonly Topic[],
  schemas: readonly [string, Schema][],
): Html {
  const link = (id: string, text: Html) => html`<li><a href="#${id}">${text}</a></li>`;
  const group = (title: string, links: readonly Html[]) =>
    html`<p id="contents-${title.toLowerCase()}">${title}</p>
      <ul aria-labelledby="contents-${title.toLowerCase()}">
        ${links}
      </ul>`;
  const topics = (list: readonly Topic[]) => list.map(({ id, title }) => link(id, html`${title}`));
  const operationLinks = operations.map(({ operationId, method, summary, deprecated }) =>
    link(
      operationId,
      html`${methodBadge(method)} ${deprecated ? html`<s>${summary}</s>` : summary}`,
    ),
  );
  const schemaLinks = schemas.map(([name]) => link(`schema-${name}`, html`${name}`));
  return html`<nav aria-label="Contents">
    ${group("Start", [link("quick-start", html`Quick start`), ...topics(before)])}
    ${group("Endpoints", operationLinks)}
    ${group("Guide", [link("responses", html`Responses`), ...topics(after)])}
    ${group("Schemas", schemaLinks)}
  </nav>`;
}

/** Where the service, its document and its guides are. Relative, for a proxy below a path. */
function addresses(servers: readonly OpenAPIV3.ServerObject[], guides: string | undefined): Html {
  return html`<ul>
    ${servers.map(({ url, description }) => html`<li>${description}: <code>${shownAs(url)}</code></li>`)}
    <li>
      OpenAPI document: <a href="docs/json">/docs/json</a>, <a href="docs/yaml">/docs/yaml</a>
    </li>
    ${guides && html`<li>Guides: <a href="${guides}">${guides}</a></li>`}
  </ul>`;
}

function responsesSection(headers: Parameters<typeof headerFields>[0]): Html {
  const common = headerFields(headers).filter(({ name }) => name in commonHeaders);
  return html`<section id="responses">
    ${heading(2, "responses", "Responses")}
    <p>
      Every response is JSON, a refusal too (see <a href="#errors">Errors</a>), and carries these
      headers:
    </p>
    ${fieldList(common, "header")}
  </section>`;
}

/** Something to be typed into a shell, with a button to copy it. */
function command(text: string): Html {
  return html`<div class="command">
    ${copyButton}
    <pre>${text}</pre>
  </div>`;
}

/** From no key to the second page, in four steps that can be typed into a shell. */
function quickStart(newPet: unknown, base: string): Html {
  const pets = `${base}/pets`;
  const list = { method: "GET", headers: [], hasList: true };
  const add = { method: "POST", headers: [], hasList: false, body: JSON.stringify(newPet) };
  return html`<section id="quick-start">
    ${heading(2, "quick-start", "Quick start")}
    <ol>
      <li>
        <strong>Get a key</strong> from the operator of this service.
        ${command(`export API_KEY=${keyPrefixes.production}...`)}
      </li>
      <li>
        <strong>Send the first request.</strong> An empty catalogue returns <code>[]</code>.
        ${command(sampleOf("curl", { ...list, url: pets }))}
      </li>
      <li>
        <strong>Add the first animal.</strong> The response has the <code>id</code> that it was
        given. ${command(sampleOf("curl", { ...add, url: pets }))}
      </li>
      <li>
        <strong>Go to the next page:</strong> the address is in the header <code>Link</code> of the
        page before. ${command(sampleOf("curl", { ...list, url: `${pets}?limit=1&after=1` }))}
      </li>
    </ol>
    <p class="soft">
      Each <a href="#endpoints">endpoint</a> shows its request in JavaScript, Python and PHP too.
    </p>
  </section>`;
}

type Topic = ReturnType<typeof topicsOf>["topics"][number];

/** What a reader needs before the first request: it stands before the reference, on a phone too. */
const isBeforeEndpoints = ({ id }: Topic) => id === "authentication" || id === "rate-limits";

/** The prose before the first heading, and what stands under each. */
function topicsOf(text: string) {
  const [introduction = "", ...rest] = text.split(/^## /m);
  const topics = rest.map((part) => {
    const title = part.split("\n", 1)[0] ?? "";
    const id = title.toLowerCase().replaceAll(" ", "-");
    return { id, title, text: part.slice(title.length) };
  });
  return { introduction, topics };
}

/** Tables can be scrolled by themselves on a narrow screen, with the keyboard too. */
function topicSection({ id, title, text }: Topic): Html {
  const prose = markdown(text).text.replace(/<table>.*?<\/table>/gs, (table) => {
    const [, first = ""] = /<th[^>]*>(.*?)<\/th>/.exec(table) ?? [];
    return html`<div class="table" tabindex="0" role="region" aria-label="${title}: ${first}">
      ${trusted(table)}
    </div>`.text;
  });
  return html`<section class="topic" id="${id}">
    ${heading(2, id, title)} ${trusted(prose)}
  </section>`;
}

function schemaArticle([name, schema]: [string, Schema]): Html {
  const fields = fieldsOf(schema);
  const type = html` <span class="type">${typeOf(schema)}</span>`;
  return html`<article id="schema-${name}">
    ${heading(3, `schema-${name}`, name, type)}
    <p>${line(schema.description)}${rulesOf(schema)}</p>
    ${fields.length > 0 && fieldList(fields)}
  </article>`;
}
