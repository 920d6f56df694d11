import { html } from "./html.ts";
import { logoMark, page, type Page } from "./layout.ts";
import style from "./landing.css" with { type: "text" };

/** Where everything of a service is. */
export interface Links {
  readonly api: string;
  readonly documentation: string;
  readonly openapi: string;
}

const tagline = "Animals that are up for adoption, for programs.";

/** The page for somebody who opens the service's address in a browser. */
export function landingPage({ api, documentation, openapi }: Links): Page {
  const body = html`<main>
    ${logoMark}
    <h1>rehome</h1>
    <p>${tagline}</p>
    <ul>
      <li>
        <div><strong>Address</strong> <code>${api}</code></div>
      </li>
      <li>
        <a href="${documentation}"
          ><strong>Documentation</strong> <span>read it and try it</span></a
        >
      </li>
      <li>
        <a href="${openapi}"><strong>OpenAPI document</strong> <span>for your tools</span></a>
      </li>
    </ul>
  </main>`;
  return page({
    title: "rehome",
    description: tagline,
    style,
    body,
  });
}
