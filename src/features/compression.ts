import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { respond } from "../http/errors.ts";

type Encoding = "br" | "gzip" | "identity";

/** A body in the forms that clients take, each with its entity tag. */
export type Forms = Readonly<
  Record<Encoding, { readonly bytes: Uint8Array<ArrayBuffer>; readonly etag: string }>
>;

const brotliQuality = { [constants.BROTLI_PARAM_QUALITY]: 5 };

/** All forms of a text. Compression runs on another thread. */
export async function formsOf(text: string): Promise<Forms> {
  const identity = new TextEncoder().encode(text);
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(identity, { params: brotliQuality }),
    promisify(gzip)(identity),
  ]);
  const hash = new Bun.CryptoHasher("sha256").update(identity).digest("base64url").slice(0, 22);
  return {
    identity: { bytes: identity, etag: `"${hash}"` },
    gzip: { bytes: new Uint8Array(gz), etag: `"${hash}-gzip"` },
    br: { bytes: new Uint8Array(br), etag: `"${hash}-br"` },
  };
}

/**
 * The form that the client of `request` takes, or 304 if it has that already (RFC 9110, section
 * 13.1.2). `more` says in Vary what else the body depends on.
 */
export function respondWith(
  request: Request,
  forms: Forms,
  more: Readonly<Record<string, string>>,
): Response {
  const encoding = encodingOf(request.headers.get("accept-encoding") ?? "");
  const { bytes, etag } = forms[encoding];
  const headers = new Headers({ ...more, etag });
  headers.append("vary", "Accept-Encoding");
  const known = request.headers.get("if-none-match")?.split(",") ?? [];
  // A proxy that compresses makes the tag a weak one.
  if (known.some((each) => ["*", etag].includes(each.trim().replace(/^W\//, "")))) {
    return respond(request, "", { status: 304, headers });
  }
  if (encoding !== "identity") headers.set("content-encoding", encoding);
  return respond(request, new Blob([bytes]), { headers });
}

function encodingOf(accepted: string): Encoding {
  const takes = (name: string) =>
    accepted.split(",").some((part) => {
      const [token = "", quality = ""] = part.trim().toLowerCase().split(";");
      return token.trim() === name && !/q=0(?:\.0*)?\s*$/.test(quality);
    });
  return takes("br") ? "br" : takes("gzip") ? "gzip" : "identity";
}
