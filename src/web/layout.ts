import { html, trusted, type Html } from "./html.ts";
import logo from "./logo.svg" with { type: "text" };
import shared from "./shared.css" with { type: "text" };

interface PageParts {
  readonly title: string;
  readonly description: string;
  readonly lang?: string;
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
export function page(parts: PageParts): Page {
  const { title, description, lang = "en", script } = parts;
  const css = compact(shared + parts.style);
  const text = html`<!doctype html>
    <html lang="${lang}">
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
        ${parts.body}${script !== undefined && element("script", script, ' type="module"')}
      </body>
    </html> `;
  return { text: text.text, headers: headersOf(css, parts) };
}

/** A style or a script. Its text is hashed, so nothing may stand around it, not even a space. */
function element(name: "style" | "script", text: string, attributes = ""): Html {
  return trusted(`<${name}${attributes}>${text}</${name}>`);
}

function compact(css: string): string {
  return css
    .replace(/\/\*.*?\*\//gs, "")
    .replace(/\s+/g, " ")
    .replace(/ ?([{};,]) ?/g, "$1");
}

function headersOf(css: string, { script }: PageParts) {
  const scripts = script === undefined ? "none" : hashOf(script);
  const policy = [
    "default-src 'none'",
    `style-src '${hashOf(css)}'`,
    `script-src '${scripts}'`,
    // A page without a script connects to nothing; Lighthouse reads /robots.txt in its name.
    "connect-src 'self'",
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
