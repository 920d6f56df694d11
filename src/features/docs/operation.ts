/** An operation of the document: what it is about, a form to try it, its code and its responses. */
import { STATUS_CODES } from "node:http";
import type { OpenAPIV3 } from "openapi-types";
import { jsonType } from "../../http/errors.ts";
import { html, trusted, type Html } from "../../web/html.ts";
import { commonHeaders } from "./openapi/components.ts";
import type { OpenApiDocument } from "./openapi/document.ts";
import { laidOut, languages, sampleOf, type SampleRequest } from "./samples.ts";
import {
  fieldList,
  fieldsOf,
  line,
  markdown,
  resolve,
  rulesOf,
  typeOf,
  type Field,
} from "./schema.ts";

export interface Server {
  readonly url: string;
  readonly description: string;
}

export interface Operation extends OpenAPIV3.OperationObject {
  readonly id: string;
  readonly method: string;
  readonly path: string;
}

export function operationsOf({ paths }: OpenApiDocument): Operation[] {
  return Object.entries(paths).flatMap(([path, item = {}]) =>
    // A path of our document holds operations and nothing else.
    Object.entries(item as Record<string, OpenAPIV3.OperationObject>).map(([method, detail]) => {
      const { operationId: id = path } = detail;
      return { ...detail, id, method: method.toUpperCase(), path };
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

export const copyButton = html`<button type="button" class="quiet small copy live">Copy</button>`;

export function operationSection(
  document: OpenApiDocument,
  operation: Operation,
  servers: readonly Server[],
): Html {
  const { id, method, path, summary = "", deprecated = false } = operation;
  const parameters = parametersOf(document, operation);
  const body = bodyOf(document, operation);
  const example = exampleResponse(document, operation);
  const request = {
    method,
    url: `${servers[0]?.url ?? ""}${filled(path, parameters)}`,
    headers: [],
    body: body?.example,
    hasList: example.text.startsWith("["),
  };
  return html`<section class="operation" id="${id}">
    ${heading(3, id, summary, deprecated && html` <span class="old"><span class="tag">deprecated</span></span>`)}
    <p>${methodBadge(method)} <code>${path}</code></p>
    <div class="columns">
      <div class="about">${markdown(operation.description ?? "")}</div>
      <form
        class="try"
        data-method="${method}"
        data-path="${path}"
        data-list="${String(request.hasList)}"
        autocomplete="off"
        novalidate
        aria-label="${summary}"
      >
        ${tryFields(document, operation, parameters, body?.example, servers)}
        <div class="result">
          <p class="outcome">
            <strong class="status s2">${example.status} ${STATUS_CODES[example.status]}</strong>
            <span class="tag">example</span>
          </p>
          <pre>${laidOut(example.text)}</pre>
        </div>
        ${codeOf(id, request)}
      </form>
      <div class="reference">${reference(document, operation, parameters, body?.schema)}</div>
    </div>
  </section>`;
}

function reference(
  document: OpenApiDocument,
  operation: Operation,
  parameters: readonly Field[],
  body: Field["schema"] | undefined,
): Html {
  return html`${
      parameters.length > 0 &&
      html`<h4>Parameters</h4>
        ${fieldList(document, parameters)}`
    }
    ${
      body &&
      html`<h4>Body</h4>
        <p>${typeOf(document, body)} as <code>${jsonType}</code></p>
        ${fieldList(document, fieldsOf(resolve(document, body).value))}`
    }
    <h4>Responses</h4>
    ${Object.keys(operation.responses).map((status) => responseOf(document, operation, status))}`;
}

function filled(path: string, parameters: readonly Field[]): string {
  return path.replace(/\{(\w+)\}/g, (_, parameter: string) =>
    String(parameters.find(({ name }) => name === parameter)?.example),
  );
}

function parametersOf(document: OpenApiDocument, { parameters = [] }: Operation): Field[] {
  return parameters.map((parameter) => {
    const { value } = resolve(document, parameter);
    return { schema: {}, ...value, place: value.in };
  });
}

/** The value of the first example. */
function firstExample(
  document: OpenApiDocument,
  { examples = {} }: OpenAPIV3.MediaTypeObject = {},
): unknown {
  const [first] = Object.values(examples);
  return first && resolve(document, first).value.value;
}

function bodyOf(document: OpenApiDocument, { requestBody }: Operation) {
  if (requestBody === undefined) return undefined;
  const content = resolve(document, requestBody).value.content[jsonType];
  const schema = content?.schema ?? {};
  const example = JSON.stringify(resolve(document, schema).value.example, null, 2);
  return { schema, example };
}

/** What the operation responds when all goes well. */
function exampleResponse(document: OpenApiDocument, { responses }: Operation) {
  const [status = "", response] =
    Object.entries(responses).find(([each]) => each.startsWith("2")) ?? [];
  const { content = {} } = response === undefined ? {} : resolve(document, response).value;
  return { status, text: JSON.stringify(firstExample(document, content[jsonType])) };
}

/** A response of an operation, with an id of its own: `listPets-429`. */
function responseOf(
  document: OpenApiDocument,
  { id: operationId, responses }: Operation,
  status: string,
): Html {
  const response = responses[status] ?? { description: "" };
  const { description, headers = {}, content = {} } = resolve(document, response).value;
  const id = `${operationId}-${status}`;
  const { schema, examples = {} } = content[jsonType] ?? {};
  const own = Object.fromEntries(
    Object.entries(headers).filter(([name]) => !(name in commonHeaders)),
  );
  const hasOwn = Object.keys(own).length > 0;
  return html`<details id="${id}">
    <summary>
      <span class="status s${status.charAt(0)}">${status}</span>
      <span>${line(description)}</span>
    </summary>
    <p class="soft">
      ${schema && html`Body: ${typeOf(document, schema)}, `}headers: as on
      <a href="#responses">every response</a>${hasOwn && ", and:"}
      <a class="anchor" href="#${id}" aria-label="Link to ${status} of ${operationId}"></a>
    </p>
    ${hasOwn && fieldList(document, headerFields(document, own))}
    ${Object.values(examples).map((example) => {
      const { summary, value } = resolve(document, example).value;
      return html`<figure>
        <figcaption class="soft">${summary}</figcaption>
        <pre>${laidOut(JSON.stringify(value))}</pre>
      </figure>`;
    })}
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
    return { name, description: value.description, schema };
  });
}

/** The fields of a request and the button that sends it; shown only with a script. */
function tryFields(
  document: OpenApiDocument,
  { id: operationId, method }: Operation,
  parameters: readonly Field[],
  body: string | undefined,
  servers: readonly Server[],
): Html {
  const id = `${operationId}-body`;
  return html`<div class="live">
    <h4>Try it</h4>
    <div class="inputs">
      ${servers.length > 1 && serverChoice(operationId, servers)}
      ${parameters.map((field) => input(document, operationId, field))}
    </div>
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

function serverChoice(operationId: string, servers: readonly Server[]): Html {
  const id = `${operationId}-server`;
  // The page's own address is found from where it is read, so that it is right behind any proxy.
  return html`<div>
    <label for="${id}">Server</label>
    <select id="${id}" class="server">
      ${servers.map(
        ({ url, description }, at) =>
          html`<option value="${at === 0 ? "" : url}">${description}</option>`,
      )}
    </select>
  </div>`;
}

function input(document: OpenApiDocument, operationId: string, field: Field): Html {
  const { name, place, schema, example } = field;
  const id = `${operationId}-${name}`;
  const { value, name: type } = resolve(document, schema);
  const shared = html`id="${id}" name="${name}" data-in="${place}"`;
  return html`<div>
    <label for="${id}"
      ><code>${name}</code> <span class="type">${value.format ?? type ?? value.type}</span></label
    >
    ${
      value.enum === undefined
        ? html`<input
            ${shared}
            value="${place === "path" ? String(example) : ""}"
            placeholder="${value.default === undefined ? "" : String(value.default)}"
            inputmode="${value.type === "integer" ? "numeric" : "text"}"
            spellcheck="false"
            aria-description="${rulesOf(document, schema)}"
          />`
        : html`<select ${shared}>
            <option value="">any</option>
            ${(value.enum as string[]).map((each) => html`<option>${each}</option>`)}
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
    </div>
    ${copyButton}
    ${languages.map(
      ({ id }) => html`<pre class="${id}" data-language="${id}">${sampleOf(id, request)}</pre>`,
    )}
  </fieldset>`;
}
