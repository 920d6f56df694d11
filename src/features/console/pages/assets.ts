import { Elysia } from "elysia";
import { formFor, formsOf } from "../../../web/encodings.ts";
import { clientScript } from "../../../web/client.macro.ts" with { type: "macro" };
import controls from "../../../web/controls.css" with { type: "text" };
import logo from "../../../web/logo.svg" with { type: "text" };
import shared from "../../../web/shared.css" with { type: "text" };
import style from "../console.css" with { type: "text" };

const files = {
  "style.css": ["text/css; charset=utf-8", shared + controls + style],
  "script.js": ["text/javascript; charset=utf-8", clientScript("console/client/main.js")],
  "icon.svg": ["image/svg+xml", logo.replaceAll("currentColor", "#0f766e")],
} as const;
type AssetName = keyof typeof files;
const names = Object.keys(files) as AssetName[];

/** The paths of the console's files change with the bytes, so that a browser may keep them. */
export const assetPaths = Object.fromEntries(
  names.map((name) => {
    const hash = new Bun.CryptoHasher("sha256").update(files[name][1]).digest("hex").slice(0, 12);
    return [name, `/assets/${name.replace(".", `-${hash}.`)}`];
  }),
) as Readonly<Record<AssetName, string>>;

export const assets = new Elysia({ name: "assets" });
for (const name of names) {
  const [type, text] = files[name];
  const headers = { "content-type": type, "cache-control": "public, max-age=31536000, immutable" };
  let forms: ReturnType<typeof formsOf> | undefined;
  assets.get(assetPaths[name], async ({ request }) => {
    const [body, init] = formFor(request, await (forms ??= formsOf(text)), headers);
    return new Response(body, init);
  });
}
