/**
 * Where backups are: a folder, or a bucket of any S3 service. A place knows names and bytes; what a
 * backup is, and whether it is good, is decided elsewhere.
 */
import { statSync } from "node:fs";
import { readdir, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../../domain/errors.ts";
import { reasonOf } from "../../../domain/system-error.ts";
import { giveName } from "./copy.ts";
import type { BucketAccess } from "./credentials.ts";
import { save } from "./encryption.ts";
import { stagedName } from "./names.ts";
import { Bucket, type BucketBounds } from "./s3.ts";

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
          giveName(partial, at(name));
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
    sizeOf: (file) => failing("read", file, () => bucket.sizeOf(prefix + file)),
    put: (file, content) => failing("written", file, () => bucket.put(prefix + file, content)),
    read: (file, bytes, take) =>
      failing("read", file, async () => take(await bucket.read(prefix + file, bytes))),
    remove: (file) => failing("removed", file, () => bucket.remove(prefix + file)),
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
