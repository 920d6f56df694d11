import type { OpenApiDocument } from "./openapi/finalise.ts";
import { keyPrefixes } from "../../domain/api-key.ts";
import { createPetExamples } from "./openapi/operations.ts";
import { command } from "./code.ts";
import { heading } from "./heading.ts";
import { html, type Html } from "./html.ts";
import { sampleOf } from "./samples/sample.ts";

/** From no key to the second page, in four steps that can be typed into a shell. */
export function quickStart({ servers = [] }: OpenApiDocument): Html {
  const pets = `${servers[0]?.url ?? ""}/pets`;
  const list = { method: "GET", headers: [], hasList: true };
  const { value } = createPetExamples.withStatus;
  const add = { method: "POST", headers: [], hasList: false, body: JSON.stringify(value) };
  return html`<section id="quick-start" data-words="getting started begin tutorial example hello">
    ${heading(2, "quick-start", "Quick start")}
    <ol class="steps">
      <li>
        <strong>Get a key</strong> from the operator of this service.
        ${command(`export API_KEY=${keyPrefixes.production}...`)}
      </li>
      <li>
        <strong>Send the first request.</strong> An empty catalogue returns <code>[]</code>.
        ${command(sampleOf("curl", { ...list, url: pets }))}
      </li>
      <li>
        <strong>Add the first animal.</strong> The answer has the <code>id</code> that it was given.
        ${command(sampleOf("curl", { ...add, url: pets }))}
      </li>
      <li>
        <strong>Go to the next page:</strong> the address is in the header <code>Link</code> of the
        page before. ${command(sampleOf("curl", { ...list, url: `${pets}?limit=1&after=1` }))}
      </li>
    </ol>
    <p class="soft">
      Each <a href="#endpoints">endpoint</a> shows its request in JavaScript, Python, Go and PHP
      too.
    </p>
  </section>`;
}
