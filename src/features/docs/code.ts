import { html, trusted, type Html } from "./html.ts";
import { languages, sampleOf } from "./samples/sample.ts";
import type { SampleRequest } from "./samples/request.ts";

/** The same request in each language. Radio buttons choose one without a script. */
export function codeOf(operationId: string, request: SampleRequest): Html {
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

/** Something to be typed into a shell, with a button to copy it. */
export function command(text: string): Html {
  return html`<div class="command">
    <button type="button" class="quiet copy live">Copy</button>
    <pre>${text}</pre>
  </div>`;
}
