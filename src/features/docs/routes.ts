import { Elysia } from "elysia";
import { jsonText } from "../../domain/exact-json.ts";
import type { RoutesOptions } from "../../http/app.ts";
import { jsonType, respond } from "../../http/errors.ts";
import { isGetPetRemoved } from "../../http/pets.ts";
import { formFor, formsOf } from "../../web/encodings.ts";

/** `GET /docs`, and the document at `/docs/json` and `/docs/yaml`. `guides` are the operator's. */
export function docsRoutes(guides: string | undefined, options: RoutesOptions) {
  let isRemoved: boolean | undefined;
  let made: ReturnType<typeof bodiesOf> | undefined;
  // Made when they are first asked for, and again when getPet is removed.
  const send = async (name: keyof Awaited<ReturnType<typeof bodiesOf>>, request: Request) => {
    const isRemovedNow = isGetPetRemoved(options.clock());
    if (made === undefined || isRemoved !== isRemovedNow) {
      isRemoved = isRemovedNow;
      made = bodiesOf(guides, options);
      made.catch(() => (made = undefined));
    }
    const { forms, headers } = (await made)[name];
    return respond(request, ...formFor(request, forms, headers));
  };
  return new Elysia({ name: "documentation" })
    .get("/", () => redirect(302, "docs"))
    .get("/docs", ({ request }) => send("page", request))
    .get("/docs/json", ({ request }) => send("json", request))
    .get("/docs/yaml", ({ request }) => send("yaml", request))
    .get("/docs/", () => redirect(308, "../docs"));
}

/** To a relative address, for a proxy that serves it below a path. */
function redirect(status: 302 | 308, location: string): Response {
  return new Response(null, { status, headers: { location } });
}

/** Nothing in the bodies depends on a request. */
async function bodiesOf(guides: string | undefined, options: RoutesOptions) {
  // Loaded where it is wanted: few servers are ever asked, and no start is to wait for it or to
  // hold it in memory.
  const [{ documentOf, yamlOf }, { documentationPage }] = await Promise.all([
    import("./document.ts"),
    import("./documentation.ts"),
  ]);
  const document = await documentOf(options);
  const page = documentationPage(document, guides, options.topics);
  const body = async (text: string, type: string) => {
    const headers = { "cache-control": "no-cache", "content-type": type };
    return { forms: await formsOf(text), headers };
  };
  return {
    json: await body(jsonText(document), jsonType),
    yaml: await body(await yamlOf(document), "application/yaml"),
    page: { forms: await formsOf(page.text), headers: page.headers },
  };
}
