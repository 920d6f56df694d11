import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { respond } from "../http/errors.ts";

type Encoding = "br" | "gzip" | "identity";

/** A body in the forms that clients take, which all responses share, each with its entity tag. */
export type Forms = Readonly<Record<Encoding, { readonly body: Blob; readonly etag: string }>>;

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
    identity: { body: new Blob([identity]), etag: `"${hash}"` },
    gzip: { body: new Blob([gz]), etag: `"${hash}-gzip"` },
    br: { body: new Blob([br]), etag: `"${hash}-br"` },
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
  const [body, init] = formFor(request, forms, more);
  return respond(request, body, init);
}

/** What `respondWith` sends, for a request that did not come in through the handler. */
export function formFor(
  request: Request,
  forms: Forms,
  more: Readonly<Record<string, string>>,
): [body: Blob | string, init: ResponseInit] {
  const encoding = encodingOf(request);
  const { body, etag } = forms[encoding];
  const headers = new Headers({ ...more, etag });
  headers.append("vary", "Accept-Encoding");
  const known = request.headers.get("if-none-match")?.split(",") ?? [];
  // A proxy that compresses makes the tag a weak one.
  if (known.some((each) => ["*", etag].includes(each.trim().replace(/^W\//, "")))) {
    return ["", { status: 304, headers }];
  }
  if (encoding !== "identity") headers.set("content-encoding", encoding);
  return [body, { headers }];
}

function encodingOf(request: Request): Encoding {
  return takes(request, "br") ? "br" : takes(request, "gzip") ? "gzip" : "identity";
}

/** True if the client of `request` takes bodies in an encoding. */
export function takes({ headers }: Request, encoding: Encoding): boolean {
  const accepted = headers.get("accept-encoding") ?? "";
  return accepted.split(",").some((part) => {
    const [token = "", quality = ""] = part.trim().toLowerCase().split(";");
    return token.trim() === encoding && !/q=0(?:\.0*)?\s*$/.test(quality);
  });
}
