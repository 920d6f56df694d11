import { Elysia } from "elysia";
import { jsonText } from "../../domain/exact-json.ts";
import { isGetPetRemoved, versionSegment, type EdgeOptions } from "../../http/edge.ts";
import { jsonType, respond } from "../../http/errors.ts";
import { baseUrlOf } from "../../http/record.ts";
import { html } from "./html.ts";
import { documentationPath } from "./index.ts";
import type { Page } from "./layout.ts";

export const documentPath = `${documentationPath}/json`;
const yamlPath = `${documentationPath}/yaml`;

/** Stands for the address that a request came to, where the operator named none. */
const unknownBase = `http://base.invalid${versionSegment}`;
const documentHeaders = { "content-type": jsonType, "cache-control": "no-cache" };
/** RFC 9512. */
const yamlHeaders = { "content-type": "application/yaml", "cache-control": "no-cache" };

/** The document as text, and the page that shows it. */
interface Made {
  readonly json: string;
  readonly yaml: string;
  readonly page: Page;
}

/** `GET /docs/json` and `/docs/yaml`, the document, and `/docs`, the page that shows it. */
export function documentationRoutes(options: EdgeOptions) {
  const { clock } = options;
  const current = keptMade(options);
  return new Elysia({ name: "documentation" })
    .get(documentPath, async ({ request }) => {
      const { json } = await current(clock());
      const text = json.replaceAll(unknownBase, () => quoted(request).slice(1, -1));
      return validated(request, text, documentHeaders);
    })
    .get(yamlPath, async ({ request }) => {
      const { yaml } = await current(clock());
      return validated(
        request,
        yaml.replaceAll(unknownBase, () => quoted(request)),
        yamlHeaders,
      );
    })
    .get(documentationPath, async ({ request }) => {
      const { page } = await current(clock());
      const base = () => html`${baseUrlOf(request)}`.text;
      return validated(request, page.text.replaceAll(unknownBase, base), page.headers);
    })
    .get(
      `${documentationPath}/`,
      // Relative, for a proxy that serves it below a path.
      () => new Response(null, { status: 308, headers: { location: `..${documentationPath}` } }),
    );
}

/** `text` with an entity tag; a client that has it gets 304 (RFC 9110, section 13.1.2). */
function validated(request: Request, text: string, more: Page["headers"]): Response {
  const tag = `"${new Bun.CryptoHasher("sha256").update(text).digest("base64url")}"`;
  const headers = { ...more, etag: tag };
  const known = request.headers.get("if-none-match")?.split(",") ?? [];
  // A proxy that compresses makes the tag a weak one.
  if (known.some((each) => ["*", tag].includes(each.trim().replace(/^W\//, "")))) {
    return respond(request, "", { status: 304, headers });
  }
  return respond(request, text, { headers });
}

/** The address of /v1 that the request came to, as a string of JSON, and so of YAML. */
const quoted = (request: Request) => JSON.stringify(baseUrlOf(request));

/** Makes the responses once, and again when getPet is removed: it takes milliseconds. */
function keptMade(options: EdgeOptions): (nowMs: number) => Promise<Made> {
  let kept: { readonly isGone: boolean; readonly made: Promise<Made> } | undefined;
  return (nowMs) => {
    const isGone = isGetPetRemoved(nowMs);
    if (kept?.isGone !== isGone) {
      const made = make(options);
      kept = { isGone, made };
      made.catch(() => (kept = undefined));
    }
    return kept.made;
  };
}

async function make(options: EdgeOptions): Promise<Made> {
  // Loaded where it is wanted: few servers are ever asked, and no start is to wait for it or to
  // hold it in memory.
  const [{ documentOf, yamlOf }, { documentationPage }] = await Promise.all([
    import("./openapi/document.ts"),
    import("./documentation.ts"),
  ]);
  const document = await documentOf({ ...options, baseUrl: options.baseUrl ?? unknownBase });
  return {
    json: jsonText(document),
    yaml: await yamlOf(document),
    page: documentationPage(document, documentPath),
  };
}
