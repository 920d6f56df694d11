import { Elysia } from "elysia";
import { jsonText } from "../../domain/exact-json.ts";
import { formsOf, respondWith, type Forms } from "../../web/encodings.ts";
import { isGetPetRemoved, versionSegment, type EdgeOptions } from "../../http/edge.ts";
import { jsonType } from "../../http/errors.ts";
import { baseUrlOf } from "../../http/record.ts";
import { html } from "../../web/html.ts";
import type { Page } from "../../web/layout.ts";

/** Stands for the address that a request came to, where the operator named none. */
const unknownBase = `http://base.invalid${versionSegment}`;
const revalidated = { "cache-control": "no-cache" };
/** Addresses whose bodies are cached: a service has one or two. */
const basesMax = 4;

type Body = Page & { readonly escape: (base: string) => string };
type Name = "json" | "yaml" | "page";

interface DocsOptions extends EdgeOptions {
  /** Where the operator's guides are, if anywhere. */
  readonly guides: string | undefined;
}

/** `GET /docs`, and the document at `/docs/json` and `/docs/yaml`. */
export function docsRoutes(options: DocsOptions) {
  const send = sender(options);
  return new Elysia({ name: "documentation" })
    .get("/", () => redirect(302, "docs"))
    .get("/docs", ({ request }) => send(request, "page"))
    .get("/docs/json", ({ request }) => send(request, "json"))
    .get("/docs/yaml", ({ request }) => send(request, "yaml"))
    .get("/docs/", () => redirect(308, "../docs"));
}

/** To a relative address, for a proxy that serves it below a path. */
function redirect(status: 302 | 308, location: string): Response {
  return new Response(null, { status, headers: { location } });
}

/** Makes the bodies when they are first asked for, and again when getPet is removed. */
function sender(options: DocsOptions) {
  let isRemoved: boolean | undefined;
  let bodies: Promise<Record<Name, Body>> | undefined;
  const cached = new Map<string, Promise<Record<Name, Forms>>>();

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
    const isRemovedNow = isGetPetRemoved(options.clock());
    if (isRemoved !== isRemovedNow) {
      isRemoved = isRemovedNow;
      bodies = undefined;
      cached.clear();
    }
    const base = baseUrlOf(request);
    let forms = cached.get(base);
    if (forms === undefined) {
      if (cached.size >= basesMax) cached.clear();
      forms = formsFor(base);
      cached.set(base, forms);
      forms.catch(() => ((bodies = undefined), cached.delete(base)));
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
