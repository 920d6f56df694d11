import type { OpenApiDocument } from "./openapi/finalise.ts";
import { html, type Html } from "./html.ts";
import { resolve, rulesOf, type Field } from "./schema.ts";

/** An address that requests can be sent to. */
export interface Server {
  readonly url: string;
  readonly description: string;
}

/** The fields of a request and the button that sends it; shown only with a script. */
export function tryForm(
  document: OpenApiDocument,
  operationId: string,
  parameters: readonly Field[],
  body: string | undefined,
  servers: readonly Server[],
): Html {
  const inputs = parameters.map((field) => input(document, operationId, field));
  return html`<div class="live">
    <h4>Try it</h4>
    <div class="inputs">${servers.length > 1 && serverChoice(operationId, servers)} ${inputs}</div>
    ${body !== undefined && bodyField(operationId, body)}
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

function bodyField(operationId: string, text: string): Html {
  const id = `${operationId}-body`;
  return html`<label for="${id}">Body <span class="type">JSON</span></label>
    <textarea
      id="${id}"
      name="body"
      rows="${text.split("\n").length}"
      spellcheck="false"
      data-in="body"
    >
${text}</textarea>`;
}

function input(document: OpenApiDocument, operationId: string, field: Field): Html {
  const { name, place, schema } = field;
  const id = `${operationId}-${name}`;
  const { value, name: type } = resolve(document, schema);
  const isNumber = value.type === "integer";
  const control =
    value.enum === undefined
      ? html`<input
          id="${id}"
          name="${name}"
          data-in="${place}"
          value="${place === "path" ? String(field.example) : ""}"
          placeholder="${value.default === undefined ? "" : String(value.default)}"
          inputmode="${isNumber ? "numeric" : "text"}"
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
