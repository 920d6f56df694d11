import { STATUS_CODES } from "node:http";
import type { OpenAPIV3 } from "openapi-types";
import { jsonType } from "../../http/errors.ts";
import type { OpenApiDocument } from "./openapi/finalise.ts";
import { heading } from "./heading.ts";
import { html, trusted, type Html } from "./html.ts";
import { laidOut, textOf } from "./json-text.ts";
import { responseList } from "./responses.ts";
import {
  fieldList,
  fieldsOf,
  markdown,
  resolve,
  typeOf,
  type Field,
  type Schema,
} from "./schema.ts";
import { codeOf } from "./code.ts";
import { tryForm, type Server } from "./try-form.ts";

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

/** What the document says of an operation, a form to try it, an answer, and its code. */
export function operationSection(
  document: OpenApiDocument,
  operation: Operation,
  servers: readonly Server[],
): Html {
  const { id, method, path, summary, isDeprecated, detail } = operation;
  const parameters = parametersOf(document, operation);
  const body = bodyOf(document, operation);
  const example = exampleAnswer(document, detail.responses);
  const request = {
    method,
    url: `${servers[0]?.url ?? ""}${filled(path, parameters)}`,
    headers: [],
    body: body?.example,
    hasList: example.text.startsWith("["),
  };
  return html`<section class="operation" id="${id}">
    ${heading(3, id, summary, isDeprecated && html` <span class="tag old">deprecated</span>`)}
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
        ${tryForm(document, id, parameters, body?.example, servers)}
        <div class="result">
          <p class="outcome">
            <strong class="status s2">${example.status} ${STATUS_CODES[example.status]}</strong>
            <span class="tag">example</span>
          </p>
          <pre class="json">${textOf(laidOut(example.text))}</pre>
        </div>
        ${codeOf(id, request)}
      </form>
      <div class="reference">${reference(document, operation, parameters, body)}</div>
    </div>
  </section>`;
}

/** What the document says of each part of a request, and of each response. */
function reference(
  document: OpenApiDocument,
  { id, detail }: Operation,
  parameters: readonly Field[],
  body: Body | undefined,
): Html {
  return html`${
      parameters.length > 0 &&
      html`<h4>Parameters</h4>
        ${fieldList(document, parameters)}`
    }
    ${
      body !== undefined &&
      html`<h4>Body</h4>
        <p>${typeOf(document, body.schema)} as <code>${jsonType}</code></p>
        ${fieldList(document, fieldsOf(resolve(document, body.schema).value))}`
    }
    <h4>Responses</h4>
    ${responseList(document, id, detail.responses)}`;
}

/** A path that may break before each of its segments. */
function breakable(path: string): Html {
  return html`${path.split("/").flatMap((part, at) => (at === 0 ? [] : [trusted("<wbr>/"), html`${part}`]))}`;
}

/** The path with an example of each of its parameters. */
function filled(path: string, parameters: readonly Field[]): string {
  return path.replace(/\{(\w+)\}/g, (_, parameter: string) =>
    String(parameters.find(({ name }) => name === parameter)?.example),
  );
}

function parametersOf(document: OpenApiDocument, { detail }: Operation): Field[] {
  return (detail.parameters ?? []).map((parameter) => {
    const { value } = resolve(document, parameter);
    const { name, description, required = false, schema = {}, in: place, example } = value;
    return { name, description, required, schema, place, example };
  });
}

interface Body {
  readonly schema: Schema | OpenAPIV3.ReferenceObject;
  /** As it stands in the form to begin with. */
  readonly example: string;
}

function bodyOf(document: OpenApiDocument, { detail }: Operation): Body | undefined {
  if (detail.requestBody === undefined) return undefined;
  const { schema = {}, examples = {} } =
    resolve(document, detail.requestBody).value.content[jsonType] ?? {};
  const [first] = Object.values(examples);
  const value: unknown = first && resolve(document, first).value.value;
  return { schema, example: JSON.stringify(value, null, 2) };
}

/** What the operation answers when all goes well. */
function exampleAnswer(document: OpenApiDocument, responses: OpenAPIV3.ResponsesObject) {
  const [status = "", response] =
    Object.entries(responses).find(([each]) => each.startsWith("2")) ?? [];
  const { content = {} } = response === undefined ? {} : resolve(document, response).value;
  const [first] = Object.values(content[jsonType]?.examples ?? {});
  const value: unknown = first && resolve(document, first).value.value;
  return { status, text: JSON.stringify(value) };
}
