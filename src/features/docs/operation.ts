/** An operation of the document: what it is about, a form to try it, its code and its responses. */
import { STATUS_CODES } from "node:http";
import { jsonType } from "../../http/errors.ts";
import { html, trusted, type Html } from "../../web/html.ts";
import { commonHeaders, type OpenApiDocument } from "./document.ts";
import { laidOut, languages, sampleOf, type SampleRequest } from "./samples.ts";

/** What the page reads of a schema, with what each reference stands for in its place. */
export interface Schema {
  readonly name?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly default?: number;
  readonly example?: unknown;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number | undefined;
  readonly pattern?: string;
}

interface Field {
  readonly name: string;
  readonly description?: string | undefined;
  readonly required?: boolean;
  readonly schema: Schema;
  /** The location of a parameter; of other fields the heading shows it. */
  readonly in?: string;
  readonly example?: unknown;
}

type Headers = Readonly<Record<string, Pick<Field, "description" | "schema">>>;

interface Content {
  readonly [jsonType]: {
    readonly schema: Schema;
    readonly examples: Readonly<Record<string, { summary: string; value: unknown }>>;
  };
}

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: boolean;
  readonly parameters?: readonly Field[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<
    Record<string, { description: string; headers: Headers; content: Content }>
  >;
}

interface Resolved {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Headers;
  };
}

export function resolved(document: OpenApiDocument): Resolved {
  const at = (of: unknown, step: string) => (of as Record<string, unknown>)[step];
  function whole(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(whole);
    if (typeof value !== "object" || value === null) return value;
    if ("$ref" in value && typeof value.$ref === "string") {
      const steps = value.$ref.split("/").slice(1);
      return { ...(whole(steps.reduce(at, document as unknown)) as object), name: steps.at(-1) };
    }
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, whole(each)]));
  }
  return whole(document) as Resolved;
}

export const operationsOf = ({ paths }: Resolved): Operation[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, each]) => ({ ...each, method: method.toUpperCase(), path })),
  );

export const markdown = (text: string): Html => trusted(Bun.markdown.html(text));

/** One line of CommonMark, without the paragraph around it. */
export const line = (text = ""): Html =>
  trusted(
    Bun.markdown
      .html(text)
      .trim()
      .replace(/^<p>|<\/p>$/g, ""),
  );

/** The type of a schema in a word or two; a name leads to where it is described. */
export function typeOf({ name, type, format, items }: Schema): Html {
  if (name !== undefined) return html`<a href="#schema-${name}">${name}</a>`;
  if (items !== undefined) return html`array of ${typeOf(items)}`;
  return html`${type}${format === undefined ? "" : ` (${format})`}`;
}

export function rulesOf(schema: Schema): Html {
  const { enum: values, format, minimum, maximum, maxLength, pattern, type } = schema;
  // What `format` says already is not said again.
  const isBounded = format !== "int64" && minimum !== undefined;
  const isShort = type === "string" && pattern === undefined && maxLength !== undefined;
  return html`${values && html` One of${values.map((each) => html` <code>${each}</code>`)}.`}
  ${isBounded && ` From ${minimum} to ${maximum}.`}
  ${isShort && ` At most ${maxLength} characters.`}
  ${schema.default !== undefined && ` ${schema.default} when omitted.`}`;
}

/** Fields with their types and rules; with `kind`, each has an id: `header-retry-after`. */
export function fieldList(fields: readonly Field[], kind?: string): Html {
  const rows = fields.map(({ name, description, required, schema, in: place }) => {
    const id = kind && trusted(` id="${kind}-${name.toLowerCase()}"`);
    return html`<div${id}>
      <dt>
        <code>${name}</code>
        <span class="type">${typeOf(schema)}</span
        >${place && html` <span class="tag">${place}</span>`}${required && html` <span class="tag must">required</span>`}
      </dt>
      <dd>${line(description ?? schema.description)}${rulesOf(schema)}</dd>
    </div>`;
  });
  return html`<dl class="fields">${rows}</dl>`;
}

export const fieldsOf = ({ properties = {}, required = [] }: Schema): Field[] =>
  Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    required: required.includes(name),
  }));

/** The headers of a response as fields. How long one may be is for tools that check it. */
export const headerFields = (headers: Headers): Field[] =>
  Object.entries(headers).map(([name, { description, schema }]) => {
    return { name, description, schema: { ...schema, maxLength: undefined } };
  });

/** A heading and a link to it. `more` stands behind the title, not in the link's name. */
export function heading(level: 2 | 3, id: string, title: string, more: Html | false = false): Html {
  const tag = trusted(`h${level}`);
  return html`<div class="heading">
    <${tag}>${title}${more}</${tag}>
    <a class="anchor" href="#${id}" aria-label="Link to ${title}">#</a>
  </div>`;
}

export const methodBadge = (method: string): Html =>
  html`<span class="method ${method.toLowerCase()}">${method}</span>`;

export const copyButton = html`<button type="button" class="quiet small copy live">Copy</button>`;

export function operationSection(operation: Operation, base: string): Html {
  const { operationId: id, method, path, summary, parameters = [], responses } = operation;
  const schema = operation.requestBody?.content[jsonType].schema;
  const body = schema && JSON.stringify(schema.example, null, 2);
  const [status, success] = Object.entries(responses)[0] ?? ["", undefined];
  const [example] = Object.values(success?.content[jsonType].examples ?? {});
  const exampleOf = (_: string, name: string) =>
    String(parameters.find((each) => each.name === name)?.example);
  const url = `${base}${path.replace(/\{(\w+)\}/g, exampleOf)}`;
  const request = { method, url, headers: [], body, hasList: Array.isArray(example?.value) };
  return html`<section class="operation" id="${id}">
    ${heading(3, id, summary, operation.deprecated && html` <span class="tag">deprecated</span>`)}
    <p>${methodBadge(method)} <code>${path}</code></p>
    <div class="columns">
      <div class="about">${markdown(operation.description)}</div>
      <form
        class="try"
        data-method="${method}"
        data-path="${path}"
        data-list="${String(request.hasList)}"
        autocomplete="off"
        novalidate
        aria-label="${summary}"
      >
        ${tryFields(operation, body)}
        <div class="result">
          <p class="outcome">
            <strong class="status s2">${status} ${STATUS_CODES[status]}</strong>
            <span class="tag">example</span>
          </p>
          <pre>${laidOut(JSON.stringify(example?.value))}</pre>
        </div>
        ${codeOf(id, request)}
      </form>
      <div class="reference">${reference(operation, schema)}</div>
    </div>
  </section>`;
}

function reference({ operationId, parameters, responses }: Operation, body?: Schema): Html {
  return html`${
      parameters &&
      html`<h4>Parameters</h4>
        ${fieldList(parameters)}`
    }
    ${
      body &&
      html`<h4>Body</h4>
        <p>${typeOf(body)} as <code>${jsonType}</code></p>
        ${fieldList(fieldsOf(body))}`
    }
    <h4>Responses</h4>
    ${Object.entries(responses).map((response) => responseOf(operationId, response))}`;
}

/** Its id stands within, so that a browser opens what an address leads to. */
function responseOf(
  operationId: string,
  [status, { description, headers, content }]: [string, Operation["responses"][string]],
): Html {
  const id = `${operationId}-${status}`;
  const { schema, examples } = content[jsonType];
  const own = Object.entries(headers).filter(([name]) => !(name in commonHeaders));
  return html`<details>
    <summary>
      <span class="status s${status.charAt(0)}">${status}</span>
      <span>${line(description)}</span>
    </summary>
    <div id="${id}">
      <p class="soft">
        Body: ${typeOf(schema)}, headers: as on
        <a href="#responses">every response</a>${own.length > 0 && ", and:"}
        <a class="anchor" href="#${id}" aria-label="Link to ${status} of ${operationId}">#</a>
      </p>
      ${own.length > 0 && fieldList(headerFields(Object.fromEntries(own)))}
      ${Object.values(examples).map(
        ({ summary, value }) =>
          html`<figure>
            <figcaption class="soft">${summary}</figcaption>
            <pre>${laidOut(JSON.stringify(value))}</pre>
          </figure>`,
      )}
    </div>
  </details>`;
}

/** The fields of a request and the button that sends it; shown only with a script. */
function tryFields(
  { operationId, method, parameters = [] }: Operation,
  body: string | undefined,
): Html {
  const id = `${operationId}-body`;
  return html`<div class="live">
    <h4>Try it</h4>
    <div class="inputs">${parameters.map((field) => input(operationId, field))}</div>
    ${
      body !== undefined &&
      html`<label for="${id}">Body <span class="type">JSON</span></label>
        <textarea
          id="${id}"
          name="body"
          rows="${body.split("\n").length}"
          spellcheck="false"
          data-in="body"
        >
${body}</textarea>`
    }
    <div class="actions">
      <button type="submit">Send</button>
      <span class="hint"><a href="#key">Paste an API key</a> to send requests.</span>
      ${method !== "GET" && html`<span class="soft">This adds a real animal.</span>`}
    </div>
  </div>`;
}

function input(operationId: string, { name, in: place, schema, example }: Field): Html {
  const id = `${operationId}-${name}`;
  const shared = html`id="${id}" name="${name}" data-in="${place}"`;
  return html`<div>
    <label for="${id}"
      ><code>${name}</code>
      <span class="type">${schema.format ?? schema.name ?? schema.type}</span></label
    >
    ${
      schema.enum === undefined
        ? html`<input
            ${shared}
            value="${place === "path" ? String(example) : ""}"
            placeholder="${schema.default}"
            inputmode="${schema.type === "integer" ? "numeric" : "text"}"
            spellcheck="false"
            aria-description="${rulesOf(schema)}"
          />`
        : html`<select ${shared}>
            <option value="">any</option>
            ${schema.enum.map((each) => html`<option>${each}</option>`)}
          </select>`
    }
  </div>`;
}

/** The same request in each language. Radio buttons choose one without a script. */
function codeOf(operationId: string, request: SampleRequest): Html {
  return html`<fieldset class="code">
    <legend>As code</legend>
    <div class="languages">
      ${languages.map(
        ({ id, title }, at) =>
          html`<label
            ><input
              type="radio"
              name="${operationId}-language"
              value="${id}"
              ${at === 0 && trusted("checked")}
            />${title}</label
          >`,
      )}
      ${copyButton}
    </div>
    ${languages.map(
      ({ id }) => html`<pre class="${id}" data-language="${id}">${sampleOf(id, request)}</pre>`,
    )}
  </fieldset>`;
}
