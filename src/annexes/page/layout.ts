import { html, trusted, type Html } from "./html.ts";
import logo from "./logo.svg" with { type: "text" };
import shared from "./shared.css" with { type: "text" };

/** The parts of a page. Style and script stand in it, so that it is one request and nothing else is ever fetched. */
export interface PageParts {
  readonly title: string;
  readonly description: string;
  readonly style: string;
  readonly script?: string;
  readonly body: Html;
}

export interface Page {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

const icon = `data:image/svg+xml,${encodeURIComponent(logo.replaceAll("currentColor", "#0f766e"))}`;
export const logoMark = trusted(logo);

/** The page, and the headers that let a browser run what stands in it and nothing else. */
export function page({ title, description, style, script, body }: PageParts): Page {
  const css = shared + style;
  const text = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <meta name="description" content="${description}" />
        <link rel="icon" href="${icon}" />
        ${element("style", css)}
      </head>
      <body>
        ${body} ${script === undefined ? undefined : element("script", script)}
      </body>
    </html> `;
  return { text: text.text, headers: headersOf(css, script) };
}

/** A style or a script. Its text is hashed, so nothing may stand around it, not even a space. */
function element(name: "style" | "script", text: string): Html {
  return trusted(`<${name}${name === "script" ? ' type="module"' : ""}>${text}</${name}>`);
}

function headersOf(css: string, script: string | undefined): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    `style-src '${hashOf(css)}'`,
    `script-src ${script === undefined ? "'none'" : `'${hashOf(script)}'`}`,
    `connect-src ${script === undefined ? "'none'" : "'self'"}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy.join("; "),
    "cache-control": "no-cache",
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  };
}

/** A source expression of Content Security Policy Level 3, section 2.3.1. */
function hashOf(text: string): string {
  return `sha256-${new Bun.CryptoHasher("sha256").update(text).digest("base64")}`;
}
