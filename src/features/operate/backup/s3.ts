/** The few requests to a bucket of any S3 service that backups need. Every answer has a bound. */
import { AwsV4Signer } from "aws4fetch";
import { decodeXML } from "entities";
import { AppError } from "../../../domain/errors.ts";
import type { BucketAccess } from "./credentials.ts";

interface BucketObject {
  readonly key: string;
  readonly bytes: number;
}

/** What an answer may have at the most, and how long a short one may take. */
const bucketBounds = {
  pageBytes: 1024 * 1024,
  /** How many names a page is asked for: so many of the longest keys fit into it. */
  pageNames: 640,
  names: 200_000,
  saidBytes: 64 * 1024,
  timeoutMs: 60_000,
} as const;
export type BucketBounds = { readonly [Name in keyof typeof bucketBounds]: number };

const attempts = 3;
const pauseMs = 500;
/** Without a content, its SHA-256. */
const emptyDigest = new Bun.CryptoHasher("sha256").digest("hex");

type Query = Readonly<Record<string, string | undefined>>;

interface Call {
  readonly method: "GET" | "PUT" | "DELETE";
  readonly key?: string;
  readonly query?: Query;
  /** The file to send, with its SHA-256: the service compares what arrives. */
  readonly content?: { readonly file: string; readonly digest: string };
}

export class Bucket {
  readonly #name: string;
  readonly #access: BucketAccess;
  readonly #bounds: BucketBounds;

  constructor(name: string, access: BucketAccess, bounds: Partial<BucketBounds> = {}) {
    this.#name = name;
    this.#access = access;
    this.#bounds = { ...bucketBounds, ...bounds };
  }

  /** The objects whose keys begin with `prefix` and have no slash behind it. */
  async list(prefix: string): Promise<BucketObject[]> {
    const { pageNames, names, timeoutMs } = this.#bounds;
    const found: BucketObject[] = [];
    let token: string | undefined;
    for (let pages = 1; ; pages += 1) {
      const query = {
        "list-type": "2",
        prefix,
        delimiter: "/",
        "max-keys": String(pageNames),
        "continuation-token": token,
      };
      const answer = await this.#send({ method: "GET", query }, timeoutMs);
      const page = readPage(await this.#text(answer, this.#bounds.pageBytes));
      found.push(...page.objects);
      token = page.next;
      if (found.length > names || (token !== undefined && pages * pageNames >= names)) {
        throw new Error(`it has more than ${names} names, or its list does not end`);
      }
      if (token === undefined) return found;
    }
  }

  /** The size of one object as the bucket lists it; undefined if there is none. */
  async sizeOf(key: string): Promise<number | undefined> {
    // Of all that begin so, it is the first.
    const query = { "list-type": "2", prefix: key, "max-keys": String(this.#bounds.pageNames) };
    const answer = await this.#send({ method: "GET", query }, this.#bounds.timeoutMs);
    const { objects } = readPage(await this.#text(answer, this.#bounds.pageBytes));
    return objects.find((each) => each.key === key)?.bytes;
  }

  async put(key: string, content: NonNullable<Call["content"]>): Promise<void> {
    await (await this.#send({ method: "PUT", key, content })).body?.cancel();
  }

  /** The content, which throws where it has more or fewer bytes than the bucket listed. */
  async read(key: string, bytes: number): Promise<ReadableStream<Uint8Array>> {
    const { body, headers } = await this.#send({ method: "GET", key });
    const declared = headers.get("content-length");
    if (declared !== null && Number(declared) !== bytes) {
      await body?.cancel();
      throw notListed(bytes);
    }
    return (body ?? new Blob().stream()).pipeThrough(exactly(bytes));
  }

  async remove(key: string): Promise<void> {
    const answer = await this.#send({ method: "DELETE", key }, this.#bounds.timeoutMs);
    await answer.body?.cancel();
  }

  /** Sends a request, again if the service fails. Throws what it says of a refusal. */
  async #send(call: Call, timeoutMs?: number): Promise<Response> {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#attempt(call, timeoutMs).catch((error: Error) => error);
      if (answer instanceof Response && answer.ok) return answer;
      // What the service or the network lacks now it may have later.
      const mayPass = answer instanceof Error || Math.floor(answer.status / 100) === 5;
      if (!mayPass || attempt === attempts || isRedirect(answer)) throw await this.#failure(answer);
      if (answer instanceof Response) await answer.body?.cancel();
      await Bun.sleep(pauseMs * attempt);
    }
  }

  async #attempt({ method, key = "", query = {}, content }: Call, timeoutMs?: number) {
    const { endpoint, region, ...credentials } = this.#access;
    const path = [this.#name, ...(key === "" ? [] : key.split("/"))].map(encodeURIComponent);
    const url = new URL(`${endpoint.replace(/\/+$/, "")}/${path.join("/")}`);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, value);
    }
    const digest = { "x-amz-content-sha256": content?.digest ?? emptyDigest };
    const signed = await new AwsV4Signer({
      ...credentials,
      method,
      url: url.href,
      headers: digest,
      service: "s3",
      region,
    }).sign();
    const { headers } = signed;
    // Not signed: some proxies change it.
    headers.set("accept-encoding", "identity");
    const sent = content && Bun.file(content.file);
    if (sent !== undefined) headers.set("content-length", String(sent.size));
    return fetch(signed.url, {
      method,
      headers,
      redirect: "error",
      decompress: false,
      // As a stream it is never in memory as a whole.
      ...(sent && { body: sent.stream() }),
      ...(timeoutMs !== undefined && { signal: AbortSignal.timeout(timeoutMs) }),
    });
  }

  async #failure(answer: Response | Error): Promise<Error> {
    if (isRedirect(answer)) {
      return new AppError(
        "unavailable",
        "The service of the bucket sends its callers to another address, and nothing was sent there.",
        { cause: answer, hint: "Name the endpoint and the region that the bucket is in." },
      );
    }
    if (answer instanceof Error) return answer;
    const said = await this.#text(answer, this.#bounds.saidBytes).catch(() => "");
    const [, code] = /<Code>([\w.]{1,200})/.exec(said) ?? [];
    return new Error(code ?? `it responded with status ${answer.status}`);
  }

  async #text({ body }: Response, maxBytes: number): Promise<string> {
    const decoder = new TextDecoder();
    let text = "";
    let bytes = 0;
    for await (const chunk of body ?? []) {
      bytes += (chunk as Uint8Array).length;
      if (bytes > maxBytes) throw new Error(`an answer has more than ${maxBytes} bytes`);
      text += decoder.decode(chunk as Uint8Array, { stream: true });
    }
    return text;
  }
}

const isRedirect = (answer: Response | Error): boolean =>
  answer instanceof Error && (answer as { code?: string }).code === "UnexpectedRedirect";

/** Reads a page of ListObjectsV2. */
function readPage(xml: string): { objects: BucketObject[]; next: string | undefined } {
  const one = (text: string, name: string) =>
    decodeXML(new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1] ?? "");
  if (!xml.includes("<ListBucketResult")) throw new Error("it did not respond with a list");
  // In time of its length: a stranger may have written it.
  const [, ...contents] = xml.split("<Contents>");
  const objects = contents.map((each) => ({
    key: one(each, "Key"),
    bytes: Number(one(each, "Size")),
  }));
  const isTruncated = one(xml, "IsTruncated") === "true";
  return { objects, next: isTruncated ? one(xml, "NextContinuationToken") : undefined };
}

const notListed = (bytes: number) => new Error(`it has not the ${bytes} bytes that are listed`);

/** Lets exactly `bytes` through. */
function exactly(bytes: number): TransformStream<Uint8Array, Uint8Array> {
  let left = bytes;
  return new TransformStream({
    transform(chunk, controller) {
      left -= chunk.length;
      if (left < 0) throw notListed(bytes);
      controller.enqueue(chunk);
    },
    flush() {
      if (left > 0) throw notListed(bytes);
    },
  });
}
