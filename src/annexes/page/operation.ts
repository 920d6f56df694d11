import type { OpenAPIV3 } from "openapi-types";
import { jsonType } from "../../http/errors.ts";
import type { OpenApiDocument } from "../../http/openapi/finalise.ts";
import { html, trusted, type Html } from "./html.ts";
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

/** An operation with its address. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly isDeprecated: boolean;
  readonly detail: OpenAPIV3.OperationObject;
}

/** The operations of a document in its order. */
export function operationsOf(document: OpenApiDocument): Operation[] {
  return Object.entries(document.paths).flatMap(([path, item = {}]) =>
    // A path of our document holds operations and nothing else.
    Object.entries(item as Record<string, OpenAPIV3.OperationObject>).map(([method, detail]) => {
      const { operationId: id = path, summary = "", deprecated: isDeprecated = false } = detail;
      return { id, method: method.toUpperCase(), path, summary, isDeprecated, detail };
    }),
  );
}

/** A method as a coloured word. */
export function methodBadge(method: string): Html {
  return html`<span class="method ${method.toLowerCase()}">${method}</span>`;
}

/** All that the document says of an operation, and a form to try it with. */
export function operationSection(document: OpenApiDocument, operation: Operation): Html {
  const { id, method, path, summary, isDeprecated, detail } = operation;
  const parameters = parametersOf(document, operation);
  const body = bodyOf(document, operation);
  return html`<section class="operation" id="${id}">
    <h2>${summary}${isDeprecated && html` <span class="tag old">deprecated</span>`}</h2>
    <p class="address">${methodBadge(method)} <code>${breakable(path)}</code></p>
    <div class="columns">
      <div class="about">
        ${markdown(detail.description ?? "")}
        ${
          parameters.length > 0 &&
          html`<h3>Parameters</h3>
            ${fieldList(document, parameters)}`
        }
        ${
          body !== undefined &&
          html`<h3>Body</h3>
            <p>${typeOf(document, body.schema)} as <code>${jsonType}</code></p>
            ${fieldList(document, fieldsOf(resolve(document, body.schema).value))}`
        }
        <h3>Answers</h3>
        ${responses(document, detail.responses)}
      </div>
      ${tryForm(document, operation, parameters, body?.example)}
    </div>
  </section>`;
}

/** A path that may break before each of its segments. */
function breakable(path: string): Html {
  return html`${path.split("/").flatMap((part, at) => (at === 0 ? [] : [trusted("<wbr>/"), html`${part}`]))}`;
}

function parametersOf(document: OpenApiDocument, { detail }: Operation): Field[] {
  return (detail.parameters ?? []).map((parameter) => {
    const {
      name,
      description,
      required = false,
      schema = {},
      in: place,
    } = resolve(document, parameter).value;
    return { name, description, required, schema, place };
  });
}

interface Body {
  readonly schema: Schema | OpenAPIV3.ReferenceObject;
  readonly example: unknown;
}

function bodyOf(document: OpenApiDocument, { detail }: Operation): Body | undefined {
  if (detail.requestBody === undefined) return undefined;
  const { schema = {}, examples = {} } =
    resolve(document, detail.requestBody).value.content[jsonType] ?? {};
  const [first] = Object.values(examples);
  return { schema, example: first && resolve(document, first).value.value };
}

function responses(document: OpenApiDocument, all: OpenAPIV3.ResponsesObject): Html {
  const items = Object.entries(all).map(([status, response]) => {
    const { description, headers = {}, content = {} } = resolve(document, response).value;
    const fields = Object.entries(headers).map(([name, header]) => {
      const { value } = resolve(document, header);
      return { name, description: value.description, required: false, schema: value.schema ?? {} };
    });
    const { schema, examples = {} } = content[jsonType] ?? {};
    const shown = Object.values(examples).map((example) => {
      const { summary, value } = resolve(document, example).value;
      return html`<figure>
        <figcaption>${summary}</figcaption>
        <pre class="json" tabindex="0">${JSON.stringify(value, null, 2)}</pre>
      </figure>`;
    });
    const type = schema && html`<span class="type">${typeOf(document, schema)}</span>`;
    return html`<details>
      <summary>
        <span class="status s${status.charAt(0)}">${status}</span>
        <span>${line(description)}</span> ${type}
      </summary>
      ${shown}
      <h4>Headers</h4>
      ${fieldList(document, fields)}
    </details>`;
  });
  return html`<div class="answers">${items}</div>`;
}

function tryForm(
  document: OpenApiDocument,
  { id, method, path }: Operation,
  parameters: readonly Field[],
  example: unknown,
): Html {
  const inputs = parameters.map((field) => input(document, id, field));
  const text = JSON.stringify(example, null, 2);
  return html`<form
    class="try"
    data-method="${method}"
    data-path="${path}"
    autocomplete="off"
    novalidate
  >
    <h3>Try it</h3>
    ${inputs}
    ${
      example !== undefined &&
      html`<label for="${id}-body">Body <span class="type">JSON</span></label
        ><textarea
          id="${id}-body"
          name="body"
          rows="${text.split("\n").length}"
          spellcheck="false"
          data-in="body"
        >
${text}</textarea>`
    }
    <div class="actions">
      <button type="submit">Send</button
      ><button type="button" class="quiet" data-copy>Copy as curl</button>
    </div>
    <pre class="curl" tabindex="0" aria-label="The same request with curl"></pre>
    <div class="result" role="status" hidden></div>
    <noscript><p>Sending from this page needs JavaScript; curl does not.</p></noscript>
  </form>`;
}

function input(document: OpenApiDocument, operationId: string, field: Field): Html {
  const { name, place, schema } = field;
  const id = `${operationId}-${name}`;
  const { value } = resolve(document, schema);
  const label = html`<label for="${id}"
    ><code>${name}</code> <span class="type">${typeOf(document, schema)}</span></label
  >`;
  if (value.enum !== undefined) {
    const options = (value.enum as string[]).map((each) => html`<option>${each}</option>`);
    return html`${label}<select id="${id}" name="${name}" data-in="${place}">
        <option value="">any</option>
        ${options}
      </select>`;
  }
  const start = place === "path" ? String(value.example ?? "") : "";
  const hint = value.default === undefined ? "" : String(value.default);
  return html`${label}<input
      id="${id}"
      name="${name}"
      data-in="${place}"
      value="${start}"
      placeholder="${hint}"
      inputmode="numeric"
      spellcheck="false"
      aria-description="${
        rulesOf(document, schema)
          ?.text.replace(/<[^>]*>/g, "")
          .trim() ?? ""
      }"
    />`;
}
