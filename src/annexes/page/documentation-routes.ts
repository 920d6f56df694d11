import { Elysia } from "elysia";
import { isGetPetRemoved } from "../../domain/deprecation.ts";
import { baseUrlOf, versionSegment, type EdgeOptions } from "../../http/edge.ts";
import { jsonType } from "../../http/errors.ts";
import { html } from "./html.ts";
import type { Page } from "./layout.ts";

export const documentationPath = "/docs";
export const documentPath = `${documentationPath}/json`;

/** Stands for the address that a request came to, where the operator named none. */
const unknownBase = `http://base.invalid${versionSegment}`;
const documentHeaders = { "content-type": jsonType, "cache-control": "no-cache" };

/** The document as text, and the page that shows it. */
interface Made {
  readonly text: string;
  readonly page: Page;
}

/** `GET /docs/json`, the OpenAPI document, and `GET /docs`, the page that shows it. */
export function documentationRoutes(options: EdgeOptions) {
  const { clock } = options;
  const current = keptMade(options);
  // The context is destructured in the parameter list on purpose: Elysia reads the handler's source to see which
  // properties it uses, and prepares all of them for one that takes the context whole.
  return new Elysia({ name: "documentation" })
    .get(
      documentPath,
      async ({ request, set }) => {
        const { text } = await current(clock());
        Object.assign(set.headers, documentHeaders);
        return text.replaceAll(unknownBase, () =>
          JSON.stringify(baseUrlOf(request.url, undefined)).slice(1, -1),
        );
      },
      { detail: { hide: true } },
    )
    .get(
      documentationPath,
      async ({ request, set }) => {
        const { page } = await current(clock());
        Object.assign(set.headers, page.headers);
        return page.text.replaceAll(
          unknownBase,
          () => html`${baseUrlOf(request.url, undefined)}`.text,
        );
      },
      { detail: { hide: true } },
    )
    .get(
      `${documentationPath}/`,
      ({ set }) => {
        set.status = "Permanent Redirect";
        // Relative, for a proxy that serves it below a path.
        set.headers["location"] = `..${documentationPath}`;
        return "";
      },
      { detail: { hide: true } },
    );
}

/**
 * What there is to answer at a time. It is made once, and once more when getPet goes: that takes milliseconds, and anybody may
 * ask at any rate.
 */
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
  // Loaded where it is wanted: few servers are ever asked, and no start is to wait for it or to hold it in memory.
  const [{ documentOf }, { documentationPage }] = await Promise.all([
    import("../../http/openapi/document.ts"),
    import("./documentation.ts"),
  ]);
  const document = await documentOf({ ...options, baseUrl: options.baseUrl ?? unknownBase });
  return { text: JSON.stringify(document), page: documentationPage(document, documentPath) };
}
