import { Elysia } from "elysia";
import { formFor, formsOf } from "../../../web/encodings.ts";
import { clientScript } from "../../../web/client.macro.ts" with { type: "macro" };
import controls from "../../../web/controls.css" with { type: "text" };
import logo from "../../../web/logo.svg" with { type: "text" };
import shared from "../../../web/shared.css" with { type: "text" };
import style from "../console.css" with { type: "text" };

const script = clientScript("console/client/main.js");

const files = {
  style: { extension: "css", type: "text/css; charset=utf-8", text: shared + controls + style },
  script: { extension: "js", type: "text/javascript; charset=utf-8", text: script },
  icon: {
    extension: "svg",
    type: "image/svg+xml",
    text: logo.replaceAll("currentColor", "#0f766e"),
  },
} as const;
type AssetName = keyof typeof files;
const names = Object.keys(files) as AssetName[];

/** The paths of the console's files change with the bytes, so that a browser may keep them. */
export const assetPaths = Object.fromEntries(
  names.map((name) => {
    const { extension, text } = files[name];
    const hash = new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 12);
    return [name, `/assets/${name}-${hash}.${extension}`];
  }),
) as Readonly<Record<AssetName, string>>;

export const assets = new Elysia({ name: "assets" });
for (const name of names) {
  const { text, type } = files[name];
  const headers = { "content-type": type, "cache-control": "public, max-age=31536000, immutable" };
  let forms: ReturnType<typeof formsOf> | undefined;
  assets.get(assetPaths[name], async ({ request }) => {
    const [body, init] = formFor(request, await (forms ??= formsOf(text)), headers);
    return new Response(body, init);
  });
}
