/**
 * Where backups are: a folder, or a bucket of any S3 service, whose every answer has a bound. A
 * place knows names and bytes; what a backup is, and whether it is good, is decided elsewhere.
 */
import { statSync } from "node:fs";
import { readdir, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../../domain/errors.ts";
import { reasonOf } from "../../../domain/system-error.ts";
import { nameNew } from "./copy.ts";
import type { BucketAccess } from "./credentials.ts";
import { save } from "./encryption.ts";
import { stagedName } from "./names.ts";
import { AwsV4Signer } from "aws4fetch";
import { decodeXML } from "entities";

export interface Place {
  /** The folder; undefined for a bucket. */
  readonly folder: string | undefined;
  /** The address of what has this name there. */
  at(name: string): string;
  /** What is there by the names that dated backups begin with. */
  list(): Promise<PlacedFile[]>;
  /** The size of one, also by another name; undefined if it is not there. */
  sizeOf(name: string): Promise<number | undefined>;
  /** Sends the file. Resolves once the place has all of it under `name`, which must be free. */
  put(name: string, content: Content): Promise<void>;
  /** Gives the content, of a listed size, to `take`. */
  read<T>(name: string, bytes: number, take: Take<T>): Promise<T>;
  remove(name: string): Promise<void>;
}

type Take<T> = (content: ReadableStream<Uint8Array>) => Promise<T>;

export interface PlacedFile {
  readonly name: string;
  readonly bytes: number;
}

/** A file with its size and its SHA-256. */
export interface Content {
  readonly file: string;
  readonly bytes: number;
  readonly digest: string;
}

const nameStart = "rehome-";

const saidMax = 200;

/** True for an address in a bucket: everything else is a path. */
export const isBucket = (address: string): boolean => address.startsWith("s3://");

/** What runs work on the files of a place, and says in words which of them failed, and why. */
function failingAt(at: (name: string) => string, whyOf: (error: unknown) => string, hint: string) {
  return async <T>(done: string, name: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw new AppError("unavailable", `${at(name)} cannot be ${done}: ${whyOf(error)}.`, {
        cause: error,
        hint,
      });
    }
  };
}

export function folderPlace(folder: string): Place {
  const at = (name: string) => join(folder, name);
  const hint = "Name a folder that this user can read and write.";
  const failing = failingAt(at, reasonOf, hint);
  const sizeIn = (name: string) => statSync(at(name), { throwIfNoEntry: false })?.size;
  return {
    folder,
    at,
    list: () =>
      failing("listed", "", async () => {
        const names = (await readdir(folder)).filter((name) => name.startsWith(nameStart));
        return names.map((name) => ({ name, bytes: sizeIn(name) ?? 0 }));
      }),
    sizeOf: (name) => failing("read", name, async () => sizeIn(name)),
    put: (name, { file }) =>
      failing("written", name, async () => {
        const partial = at(stagedName());
        try {
          await save(Bun.file(file).stream(), partial);
          nameNew(partial, at(name));
        } finally {
          await rm(partial, { force: true });
        }
      }),
    read: (name, _, take) => failing("read", name, () => take(Bun.file(at(name)).stream())),
    remove: (name) => failing("removed", name, () => unlink(at(name))),
  };
}

/** The prefix `path` of a bucket. */
export function bucketPlace(
  address: string,
  access: BucketAccess,
  bounds?: Partial<BucketBounds>,
): Place {
  const [, name = "", path = ""] = /^s3:\/\/([^/]+)\/?(.*?)\/*$/.exec(address) ?? [];
  if (name === "" || [name, ...path.split("/")].some((part) => part === "." || part === "..")) {
    throw new AppError("invalid_request", `${address} names no bucket.`, {
      hint: "Write it as s3://BUCKET/PREFIX.",
    });
  }
  const prefix = path === "" ? "" : `${path}/`;
  const at = (file: string) => `s3://${name}/${prefix}${file}`;
  const bucket = new Bucket(name, access, bounds);
  const failing = failingAt(
    at,
    (error) => {
      const { code, message } = error as { code?: unknown; message?: string };
      return (typeof code === "string" ? code : `${message}`).slice(0, saidMax);
    },
    "Check credentials, bucket and endpoint (AWS_ENDPOINT_URL, or endpoint_url in the file).",
  );
  return {
    folder: undefined,
    at,
    list: () =>
      failing("listed", "", async () => {
        const objects = await bucket.list(prefix + nameStart);
        return objects.flatMap(({ key, bytes }) => {
          const file = key.slice(prefix.length);
          return key.startsWith(prefix + nameStart) && !file.includes("/")
            ? [{ name: file, bytes }]
            : [];
        });
      }),
    sizeOf: (file) =>
      failing("read", file, async () => {
        const objects = await bucket.list(prefix + file);
        return objects.find(({ key }) => key === prefix + file)?.bytes;
      }),
    put: (file, content) =>
      failing("written", file, () => bucket.change({ method: "PUT", key: prefix + file, content })),
    read: (file, bytes, take) =>
      failing("read", file, async () => take(await bucket.read(prefix + file, bytes))),
    remove: (file) =>
      failing("removed", file, () => bucket.change({ method: "DELETE", key: prefix + file })),
  };
}

/**
 * Sends the file and compares what arrived: its size and its SHA-256. If that is not the same, or
 * cannot be read, it is removed there, and AppError `unavailable` thrown.
 */
export async function deliver(place: Place, name: string, file: string): Promise<Content> {
  const content = await contentIn(file);
  await place.put(name, content);
  const arrived = await place.read(name, content.bytes, digestOf).catch((error: Error) => error);
  if (arrived === content.digest) return content;
  const wrong =
    arrived instanceof Error
      ? `The backup was sent, but ${arrived.message.replace(/\.$/, "")}`
      : `${place.at(name)} arrived damaged`;
  const removal = await place.remove(name).then(
    () => "It was removed.",
    (error: Error) => error.message,
  );
  throw new AppError("unavailable", `${wrong}. ${removal}`);
}

export async function contentIn(file: string): Promise<Content> {
  const { size: bytes } = statSync(file);
  return { file, bytes, digest: await digestOf(Bun.file(file).stream()) };
}

/** The SHA-256 of all of it. */
export async function digestOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  for await (const chunk of stream) hasher.update(chunk);
  return hasher.digest("hex");
}

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
type BucketBounds = { readonly [Name in keyof typeof bucketBounds]: number };

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

class Bucket {
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

  /** Puts or deletes an object. A file that is sent may take its time. */
  async change(call: Call): Promise<void> {
    const isShort = call.content === undefined;
    const answer = await this.#send(call, isShort ? this.#bounds.timeoutMs : undefined);
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
