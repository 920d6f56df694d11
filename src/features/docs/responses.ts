import type { OpenAPIV3 } from "openapi-types";
import { jsonType } from "../../http/errors.ts";
import type { OpenApiDocument } from "./openapi/finalise.ts";
import { commonHeaders } from "./openapi/components.ts";
import { html, type Html } from "./html.ts";
import { laidOut, textOf } from "./json-text.ts";
import { fieldList, line, resolve, typeOf, type Field } from "./schema.ts";

type Headers = NonNullable<OpenAPIV3.ResponseObject["headers"]>;

/** The responses of an operation, each with an id of its own: `listPets-429`. */
export function responseList(
  document: OpenApiDocument,
  operationId: string,
  all: OpenAPIV3.ResponsesObject,
): Html {
  const items = Object.entries(all).map(([status, response]) => {
    const { description, headers = {}, content = {} } = resolve(document, response).value;
    const id = `${operationId}-${status}`;
    const { schema, examples = {} } = content[jsonType] ?? {};
    const own = Object.entries(headers).filter(([name]) => !(name in commonHeaders));
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
      ${figures(document, examples)}
    </details>`;
  });
  return html`<div class="responses">${items}</div>`;
}

function figures(
  document: OpenApiDocument,
  examples: NonNullable<OpenAPIV3.MediaTypeObject["examples"]>,
): Html {
  const shown = Object.values(examples).map((example) => {
    const { summary, value } = resolve(document, example).value;
    const text = textOf(laidOut(JSON.stringify(value)));
    return html`<figure>
      <figcaption>${summary}</figcaption>
      <pre class="json">${text}</pre>
    </figure>`;
  });
  return html`${shown}`;
}

function headerFields(document: OpenApiDocument, headers: Headers): Field[] {
  return Object.entries(headers).map(([name, header]) => {
    const { value } = resolve(document, header);
    // How long a header may be is for tools that check it.
    const { maxLength: _, ...schema } = resolve(document, value.schema ?? {}).value;
    return { name, description: value.description, required: false, schema };
  });
}

/** What the headers mean that every response has. */
export function commonHeaderList(document: OpenApiDocument): Html {
  const fields = headerFields(document, commonHeaders);
  return fieldList(document, fields, "header");
}
