import { Elysia } from "elysia";
import { jsonText } from "../../domain/exact-json.ts";
import type { RoutesOptions } from "../../http/app.ts";
import { jsonType } from "../../http/errors.ts";
import { isGetPetRemoved } from "../../http/routes/operations.ts";
import { formsOf, respondWith, type Forms } from "../../web/encodings.ts";
import type { Page } from "../../web/layout.ts";

const revalidated = { "cache-control": "no-cache" };

type Name = "json" | "yaml" | "page";
interface Body {
  readonly forms: Forms;
  readonly headers: Page["headers"];
}

interface DocsOptions extends Omit<RoutesOptions, "services"> {
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

/**
 * Makes the bodies when they are first asked for, and again when getPet is removed. Nothing in them
 * depends on a request.
 */
function sender(options: DocsOptions) {
  let isRemoved: boolean | undefined;
  let bodies: Promise<Record<Name, Body>> | undefined;
  return async (request: Request, name: Name): Promise<Response> => {
    const isRemovedNow = isGetPetRemoved(options.clock());
    if (bodies === undefined || isRemoved !== isRemovedNow) {
      isRemoved = isRemovedNow;
      bodies = bodiesOf(options);
      bodies.catch(() => (bodies = undefined));
    }
    const { forms, headers } = (await bodies)[name];
    return respondWith(request, forms, headers);
  };
}

async function bodiesOf(options: DocsOptions): Promise<Record<Name, Body>> {
  // Loaded where it is wanted: few servers are ever asked, and no start is to wait for it or to
  // hold it in memory.
  const [{ documentOf, yamlOf }, { documentationPage }] = await Promise.all([
    import("./openapi/document.ts"),
    import("./documentation.ts"),
  ]);
  const document = await documentOf(options);
  const page = documentationPage(document, options.guides, options.topics);
  const [json, yaml, html] = await Promise.all(
    [jsonText(document), await yamlOf(document), page.text].map(formsOf),
  );
  const typed = (type: string) => ({ ...revalidated, "content-type": type });
  return {
    json: { forms: json, headers: typed(jsonType) },
    // RFC 9512.
    yaml: { forms: yaml, headers: typed("application/yaml") },
    page: { forms: html, headers: page.headers },
  } as Record<Name, Body>;
}
