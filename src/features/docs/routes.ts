import { Elysia } from "elysia";
import { jsonText } from "../../domain/exact-json.ts";
import { formsOf, respondWith, type Forms } from "../compression.ts";
import { isGetPetRemoved, versionSegment, type EdgeOptions } from "../../http/edge.ts";
import { jsonType, respond } from "../../http/errors.ts";
import { baseUrlOf } from "../../http/record.ts";
import { html } from "./html.ts";
import { logoMark, page, type Page } from "./layout.ts";
import style from "./landing.css" with { type: "text" };

/** Stands for the address that a request came to, where the operator named none. */
const unknownBase = `http://base.invalid${versionSegment}`;
const revalidated = { "cache-control": "no-cache" };
/** Addresses whose bodies are kept: a service has one or two. */
const basesMax = 4;

type Body = Page & { readonly escape: (base: string) => string };
type Name = "json" | "yaml" | "page";

interface DocsOptions extends EdgeOptions {
  /** Where the operator's guides are, if anywhere. */
  readonly guides: string | undefined;
}

/** `GET /`, `/docs`, and the document at `/docs/json` and `/docs/yaml`. */
export function docsRoutes(options: DocsOptions) {
  const send = sender(options);
  return new Elysia({ name: "documentation" })
    .get("/", ({ request }) => landing(request))
    .get("/docs", ({ request }) => send(request, "page"))
    .get("/docs/json", ({ request }) => send(request, "json"))
    .get("/docs/yaml", ({ request }) => send(request, "yaml"))
    .get(
      "/docs/",
      // Relative, for a proxy that serves it below a path.
      () => new Response(null, { status: 308, headers: { location: "../docs" } }),
    );
}

/** Makes the bodies when they are first asked for, and again when getPet is removed. */
function sender(options: DocsOptions) {
  let isGone: boolean | undefined;
  let bodies: Promise<Record<Name, Body>> | undefined;
  const kept = new Map<string, Promise<Record<Name, Forms>>>();

  async function formsFor(base: string): Promise<Record<Name, Forms>> {
    bodies ??= bodiesOf(options);
    const { json, yaml, page } = await bodies;
    const [jsonForms, yamlForms, pageForms] = await Promise.all(
      [json, yaml, page].map(({ text, escape }) =>
        formsOf(text.replaceAll(unknownBase, () => escape(base))),
      ),
    );
    return { json: jsonForms, yaml: yamlForms, page: pageForms } as Record<Name, Forms>;
  }

  return async (request: Request, name: Name): Promise<Response> => {
    const isGoneNow = isGetPetRemoved(options.clock());
    if (isGone !== isGoneNow) {
      isGone = isGoneNow;
      bodies = undefined;
      kept.clear();
    }
    const base = baseUrlOf(request);
    let forms = kept.get(base);
    if (forms === undefined) {
      if (kept.size >= basesMax) kept.clear();
      forms = formsFor(base);
      kept.set(base, forms);
      forms.catch(() => ((bodies = undefined), kept.delete(base)));
    }
    const all = await forms;
    const { headers } = (await bodies)?.[name] ?? { headers: {} };
    return respondWith(request, all[name], headers);
  };
}

async function bodiesOf(options: DocsOptions): Promise<Record<Name, Body>> {
  // Loaded where it is wanted: few servers are ever asked, and no start is to wait for it or to
  // hold it in memory.
  const [{ documentOf, yamlOf }, { documentationPage }] = await Promise.all([
    import("./openapi/document.ts"),
    import("./documentation.ts"),
  ]);
  const document = await documentOf({ ...options, baseUrl: options.baseUrl ?? unknownBase });
  // A string of JSON, and so of YAML.
  const quoted = (base: string) => JSON.stringify(base);
  return {
    json: {
      text: jsonText(document),
      headers: { ...revalidated, "content-type": jsonType },
      escape: (base) => quoted(base).slice(1, -1),
    },
    yaml: {
      text: await yamlOf(document),
      // RFC 9512.
      headers: { ...revalidated, "content-type": "application/yaml" },
      escape: quoted,
    },
    page: {
      ...documentationPage(document, options.guides, options.topics),
      escape: (base) => html`${base}`.text,
    },
  };
}

const tagline = "Animals that are up for adoption, for programs.";

/** Where everything is, as a page for a browser and as JSON for anybody else. */
function landing(request: Request): Response {
  const api = baseUrlOf(request);
  const root = api.slice(0, -versionSegment.length);
  const links = { api, documentation: `${root}/docs`, openapi: `${root}/docs/json` };
  if (!wantsPage(request.headers.get("accept") ?? "")) {
    const headers = { ...revalidated, "content-type": jsonType, vary: "Accept" };
    return respond(request, JSON.stringify({ name: "rehome", ...links }), { headers });
  }
  const body = html`<main>
    ${logoMark}
    <h1>rehome</h1>
    <p>${tagline}</p>
    <ul>
      <li>
        <div><strong>Address</strong> <code>${api}</code></div>
      </li>
      <li>
        <a href="${links.documentation}"
          ><strong>Documentation</strong> <span>read it and try it</span></a
        >
      </li>
      <li>
        <a href="${links.openapi}"><strong>OpenAPI document</strong> <span>for your tools</span></a>
      </li>
    </ul>
  </main>`;
  const { text, headers } = page({ title: "rehome", description: tagline, style, body });
  return respond(request, text, { headers: { ...headers, vary: "Accept" } });
}

/** True for what a browser sends: it names HTML. A program that takes anything gets JSON. */
function wantsPage(accept: string): boolean {
  return /\btext\/html\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(accept);
}
