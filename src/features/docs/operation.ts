import { STATUS_CODES } from "node:http";
import type { OpenAPIV3 } from "openapi-types";
import { jsonType } from "../../http/errors.ts";
import { html, trusted, type Html } from "./html.ts";
import { laidOutText } from "./json-text.ts";
import { commonHeaders } from "./openapi/components.ts";
import type { OpenApiDocument } from "./openapi/document.ts";
import { languages, sampleOf, type SampleRequest } from "./samples.ts";
import {
  fieldList,
  fieldsOf,
  line,
  markdown,
  resolve,
  rulesOf,
  typeOf,
  type Field,
  type Schema,
} from "./schema.ts";

export interface Server {
  readonly url: string;
  readonly description: string;
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly isDeprecated: boolean;
  readonly detail: OpenAPIV3.OperationObject;
}

export function operationsOf(document: OpenApiDocument): Operation[] {
  return Object.entries(document.paths).flatMap(([path, item = {}]) =>
    // A path of our document holds operations and nothing else.
    Object.entries(item as Record<string, OpenAPIV3.OperationObject>).map(([method, detail]) => {
      const { operationId: id = path, summary = "", deprecated: isDeprecated = false } = detail;
      return { id, method: method.toUpperCase(), path, summary, isDeprecated, detail };
    }),
  );
}

/** A heading and a link to it. `more` stands behind the title, not in the link's name. */
export function heading(level: 2 | 3, id: string, title: string, more: Html | false = false): Html {
  const tag = trusted(`h${level}`);
  return html`<div class="heading">
    <${tag}>${title}${more}</${tag}>
    <a class="anchor" href="#${id}" aria-label="Link to ${title}"></a>
  </div>`;
}

export function methodBadge(method: string): Html {
  return html`<span class="method ${method.toLowerCase()}">${method}</span>`;
}

/** Something to be typed into a shell, with a button to copy it. */
export function command(text: string): Html {
  return html`<div class="command">
    <button type="button" class="quiet copy live">Copy</button>
    <pre>${text}</pre>
  </div>`;
}

export function operationSection(
  document: OpenApiDocument,
  { id, method, path, summary, isDeprecated, detail }: Operation,
  servers: readonly Server[],
): Html {
  const parameters = parametersOf(document, detail);
  const body = bodyOf(document, detail);
  const example = exampleResponse(document, detail);
  const request = {
    method,
    url: `${servers[0]?.url ?? ""}${filled(path, parameters)}`,
    headers: [],
    body: body?.example,
    hasList: example.text.startsWith("["),
  };
  const deprecated = isDeprecated && html` <span class="tag old">deprecated</span>`;
  return html`<section class="operation" id="${id}">
    ${heading(3, id, summary, deprecated)}
    <p class="address">${methodBadge(method)} <code>${breakable(path)}</code></p>
    <div class="columns">
      <div class="about">${markdown(detail.description ?? "")}</div>
      <form
        class="try"
        data-method="${method}"
        data-path="${path}"
        data-list="${String(request.hasList)}"
        autocomplete="off"
        novalidate
        aria-label="${summary}"
      >
        ${tryFields(document, id, parameters, body?.example, servers)}
        <div class="result">
          <p class="outcome">
            <strong class="status s2">${example.status} ${STATUS_CODES[example.status]}</strong>
            <span class="tag">example</span>
          </p>
          <pre class="json">${laidOutText(example.text)}</pre>
        </div>
        ${codeOf(id, request)}
      </form>
      <div class="reference">
        ${parameterReference(document, parameters)} ${body && bodyReference(document, body.schema)}
        <h4>Responses</h4>
        <div class="responses">${responsesOf(document, id, detail)}</div>
      </div>
    </div>
  </section>`;
}

/** A path that may break before each of its segments. */
function breakable(path: string): Html {
  const segments = path.split("/").slice(1);
  return html`${segments.map((segment) => html`<wbr />/${segment}`)}`;
}

function filled(path: string, parameters: readonly Field[]): string {
  return path.replace(/\{(\w+)\}/g, (_, parameter: string) =>
    String(parameters.find(({ name }) => name === parameter)?.example),
  );
}

function parametersOf(document: OpenApiDocument, detail: OpenAPIV3.OperationObject): Field[] {
  return (detail.parameters ?? []).map((parameter) => {
    const { value } = resolve(document, parameter);
    const { name, description, required = false, schema = {}, in: place, example } = value;
    return { name, description, required, schema, place, example };
  });
}

type Examples = NonNullable<OpenAPIV3.MediaTypeObject["examples"]>;

/** The value of the first example, as the form and the code begin with it. */
function firstExample(document: OpenApiDocument, examples: Examples = {}): unknown {
  const [first] = Object.values(examples);
  return first && resolve(document, first).value.value;
}

function bodyOf(document: OpenApiDocument, { requestBody }: OpenAPIV3.OperationObject) {
  if (requestBody === undefined) return undefined;
  const { schema = {}, examples } = resolve(document, requestBody).value.content[jsonType] ?? {};
  return { schema, example: JSON.stringify(firstExample(document, examples), null, 2) };
}

/** What the operation responds when all goes well. */
function exampleResponse(document: OpenApiDocument, { responses }: OpenAPIV3.OperationObject) {
  const [status = "", response] =
    Object.entries(responses).find(([each]) => each.startsWith("2")) ?? [];
  const { content = {} } = response === undefined ? {} : resolve(document, response).value;
  return { status, text: JSON.stringify(firstExample(document, content[jsonType]?.examples)) };
}

function parameterReference(document: OpenApiDocument, parameters: readonly Field[]) {
  if (parameters.length === 0) return undefined;
  return html`<h4>Parameters</h4>
    ${fieldList(document, parameters)}`;
}

function bodyReference(
  document: OpenApiDocument,
  schema: Schema | OpenAPIV3.ReferenceObject,
): Html {
  return html`<h4>Body</h4>
    <p>${typeOf(document, schema)} as <code>${jsonType}</code></p>
    ${fieldList(document, fieldsOf(resolve(document, schema).value))}`;
}

function responsesOf(
  document: OpenApiDocument,
  id: string,
  { responses }: OpenAPIV3.OperationObject,
): Html[] {
  return Object.entries(responses).map(([status, response]) =>
    responseOf(document, id, status, response),
  );
}

/** A response of an operation, with an id of its own: `listPets-429`. */
function responseOf(
  document: OpenApiDocument,
  operationId: string,
  status: string,
  response: OpenAPIV3.ResponseObject | OpenAPIV3.ReferenceObject,
): Html {
  const { description, headers = {}, content = {} } = resolve(document, response).value;
  const id = `${operationId}-${status}`;
  const { schema, examples = {} } = content[jsonType] ?? {};
  const own = Object.entries(headers).filter(([name]) => !(name in commonHeaders));
  const figures = Object.values(examples).map((example) => {
    const { summary, value } = resolve(document, example).value;
    return html`<figure>
      <figcaption>${summary}</figcaption>
      <pre class="json">${laidOutText(JSON.stringify(value))}</pre>
    </figure>`;
  });
  return html`<details id="${id}">
    <summary>
      <span class="status s${status.charAt(0)}">${status}</span>
      <span>${line(description)}</span>
    </summary>
    <p class="meta">
      <span
        >${schema && html`Body: ${typeOf(document, schema)}, `}headers: as on
        <a href="#responses">every response</a>${own.length > 0 && ", and:"}</span
      >
      <a class="anchor" href="#${id}" aria-label="Link to ${status} of ${operationId}"></a>
    </p>
    ${own.length > 0 && fieldList(document, headerFields(document, Object.fromEntries(own)))}
    ${figures}
  </details>`;
}

/** The headers of a response as fields. */
export function headerFields(
  document: OpenApiDocument,
  headers: NonNullable<OpenAPIV3.ResponseObject["headers"]>,
): Field[] {
  return Object.entries(headers).map(([name, header]) => {
    const { value } = resolve(document, header);
    // How long a header may be is for tools that check it.
    const { maxLength: _, ...schema } = resolve(document, value.schema ?? {}).value;
    return { name, description: value.description, required: false, schema };
  });
}

/** The fields of a request and the button that sends it; shown only with a script. */
function tryFields(
  document: OpenApiDocument,
  operationId: string,
  parameters: readonly Field[],
  body: string | undefined,
  servers: readonly Server[],
): Html {
  const inputs = parameters.map((field) => input(document, operationId, field));
  const id = `${operationId}-body`;
  const bodyField =
    body !== undefined &&
    html`<label for="${id}">Body <span class="type">JSON</span></label>
      <textarea
        id="${id}"
        name="body"
        rows="${body.split("\n").length}"
        spellcheck="false"
        data-in="body"
      >
${body}</textarea>`;
  return html`<div class="live">
    <h4>Try it</h4>
    <div class="inputs">${servers.length > 1 && serverChoice(operationId, servers)} ${inputs}</div>
    ${bodyField}
    <div class="actions">
      <button type="submit">Send</button>
      <span class="hint"><a href="#key">Paste an API key</a> to send requests.</span>
    </div>
  </div>`;
}

function serverChoice(operationId: string, servers: readonly Server[]): Html {
  const id = `${operationId}-server`;
  // The page's own address is found from where it is read, so that it is right behind any proxy.
  const options = servers.map(
    ({ url, description }, at) =>
      html`<option value="${at === 0 ? "" : url}">${description}</option>`,
  );
  return html`<div>
    <label for="${id}">Server</label>
    <select id="${id}" class="server">
      ${options}
    </select>
  </div>`;
}

function input(document: OpenApiDocument, operationId: string, field: Field): Html {
  const { name, place, schema } = field;
  const id = `${operationId}-${name}`;
  const { value, name: type } = resolve(document, schema);
  const control =
    value.enum === undefined
      ? html`<input
          id="${id}"
          name="${name}"
          data-in="${place}"
          value="${place === "path" ? String(field.example) : ""}"
          placeholder="${value.default === undefined ? "" : String(value.default)}"
          inputmode="${value.type === "integer" ? "numeric" : "text"}"
          spellcheck="false"
          aria-description="${rulesOf(document, schema)}"
        />`
      : html`<select id="${id}" name="${name}" data-in="${place}">
          <option value="">any</option>
          ${(value.enum as string[]).map((each) => html`<option>${each}</option>`)}
        </select>`;
  return html`<div>
    <label for="${id}"
      ><code>${name}</code> <span class="type">${value.format ?? type ?? value.type}</span></label
    >
    ${control}
  </div>`;
}

/** The same request in each language. Radio buttons choose one without a script. */
function codeOf(operationId: string, request: SampleRequest): Html {
  const choices = languages.map(
    ({ id, title }, at) =>
      html`<label
        ><input
          type="radio"
          name="${operationId}-language"
          value="${id}"
          ${at === 0 && trusted("checked")}
        />${title}</label
      >`,
  );
  const programs = languages.map(
    ({ id }) => html`<pre class="${id}" data-language="${id}">${sampleOf(id, request)}</pre>`,
  );
  return html`<fieldset class="code">
    <legend>As code</legend>
    <div class="languages">${choices}</div>
    <button type="button" class="quiet copy live">Copy</button>
    ${programs}
  </fieldset>`;
}
