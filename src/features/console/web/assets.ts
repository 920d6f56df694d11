import { createHash } from "node:crypto";
import { clientScript } from "../../docs/client.macro.ts" with { type: "macro" };
import logo from "../../docs/logo.svg" with { type: "text" };
import shared from "../../docs/shared.css" with { type: "text" };
import style from "../console.css" with { type: "text" };
import { asset } from "./answer.ts";

const script = clientScript("console/client/main.js");

const files = {
  style: { extension: "css", type: "text/css; charset=utf-8", text: shared + style },
  script: { extension: "js", type: "text/javascript; charset=utf-8", text: script },
  icon: {
    extension: "svg",
    type: "image/svg+xml",
    text: logo.replaceAll("currentColor", "#0f766e"),
  },
} as const;

type AssetName = keyof typeof files;

/** The paths of the console's files change with the bytes, so that a browser may keep them. */
export const assetPaths = Object.fromEntries(
  Object.entries(files).map(([name, { extension, text }]) => {
    const hash = createHash("sha256").update(text).digest("hex").slice(0, 12);
    return [name, `/assets/${name}-${hash}.${extension}`];
  }),
) as Readonly<Record<AssetName, string>>;

/** The file at `path`, or undefined if there is none. */
export function assetAt(path: string): Response | undefined {
  const name = (Object.keys(files) as AssetName[]).find((each) => assetPaths[each] === path);
  return name === undefined ? undefined : asset(files[name].text, files[name].type);
}
