import { promisify } from "node:util";
import { gzip } from "node:zlib";

type Form = { readonly body: Blob; readonly etag: string };

/** A body in the forms that clients take, which all responses share, each with its entity tag. */
type Forms = Readonly<Record<"gzip" | "identity", Form>>;

/** Both forms of a text. Compression runs on another thread. */
export async function formsOf(text: string): Promise<Forms> {
  const identity = new TextEncoder().encode(text);
  const zipped = await promisify(gzip)(identity);
  const hash = new Bun.CryptoHasher("sha256").update(identity).digest("base64url").slice(0, 22);
  return {
    identity: { body: new Blob([identity]), etag: `"${hash}"` },
    gzip: { body: new Blob([zipped]), etag: `"${hash}-gzip"` },
  };
}

/**
 * The form that the client of `request` takes, or 304 if it has that already (RFC 9110, section
 * 13.1.2). `more` says in Vary what else the body depends on.
 */
export function formFor(
  request: Request,
  forms: Forms,
  more: Readonly<Record<string, string>>,
): [body: Blob | string, init: ResponseInit] {
  const encoding = takesGzip(request) ? "gzip" : "identity";
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

function takesGzip({ headers }: Request): boolean {
  const accepted = headers.get("accept-encoding")?.toLowerCase().split(",") ?? [];
  return accepted.some((part) => /^\s*gzip\s*(?:;|$)/.test(part) && !/q=0(?:\.0*)?\s*$/.test(part));
}

/** The languages of an Accept-Language without their regions, the best first (RFC 9110, 12.5.4). */
export function acceptedLanguages(header: string | null): string[] {
  const wanted = (header ?? "").split(",").map((part) => {
    const [tag = "", ...parameters] = part.trim().toLowerCase().split(";");
    const [, quality = "1"] = /q=([\d.]+)/.exec(parameters.join(";")) ?? [];
    return { code: tag.slice(0, 2), quality: Number(quality) };
  });
  const known = wanted.filter(({ quality }) => quality > 0);
  return known.toSorted((a, b) => b.quality - a.quality).map(({ code }) => code);
}
