/**
 * Where backups are: a folder, or a bucket of any S3 service. A place knows names and bytes; what a
 * backup is, and whether it is good, is decided elsewhere.
 */
import { S3Client } from "bun";
import { createReadStream } from "node:fs";
import { readdir, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { EnvironmentVariables } from "../../../config.ts";
import { AppError } from "../../../domain/errors.ts";
import { reasonOf } from "../../../domain/system-error.ts";
import { giveName, partialEnding } from "./copy.ts";
import { save, textIn } from "./encryption.ts";

export interface Place {
  /** The folder; undefined for a bucket. */
  readonly folder: string | undefined;
  /** The address of what has this name there. */
  at(name: string): string;
  list(): Promise<PlacedFile[]>;
  /** Sends the file. Resolves once the place has all of it under `name`, which must be free. */
  put(name: string, file: string): Promise<void>;
  /** Gives the content to `take`. */
  read<T>(name: string, take: (content: ReadableStream<Uint8Array>) => Promise<T>): Promise<T>;
  remove(name: string): Promise<void>;
}

interface PlacedFile {
  readonly name: string;
  readonly bytes: number;
}

const partSizeBytes = 8 * 1024 * 1024;
const retries = 3;
/** A million names, a thousand on each page. A server that never ends its list is not one. */
const pagesMax = 1_000;

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
  return {
    folder,
    at,
    list: () =>
      failing("listed", "", async () =>
        (await readdir(folder)).map((name) => ({ name, bytes: Bun.file(at(name)).size })),
      ),
    put: (name, file) =>
      failing("written", name, async () => {
        const partial = at(name + partialEnding);
        try {
          await save(Bun.file(file).stream(), partial);
          giveName(partial, at(name));
        } finally {
          await rm(partial, { force: true });
        }
      }),
    read: (name, take) => failing("read", name, () => take(Bun.file(at(name)).stream())),
    remove: (name) => failing("removed", name, () => unlink(at(name))),
  };
}

/** The prefix `path` of a bucket, with the credentials in `env` or in a file. */
export function bucketPlace(
  address: string,
  env: EnvironmentVariables,
  credentials: string | undefined,
): Place {
  const [, bucket = "", path = ""] = /^s3:\/\/([^/]+)\/?(.*?)\/*$/.exec(address) ?? [];
  if (bucket === "") {
    throw new AppError("invalid_request", `${address} names no bucket.`, {
      hint: "Write it as s3://BUCKET/PREFIX.",
    });
  }
  const prefix = path === "" ? "" : `${path}/`;
  const at = (name: string) => `s3://${bucket}/${prefix}${name}`;
  const client = new S3Client({ ...s3Options(env, credentials), bucket, retry: retries });
  const failing = failingAt(
    at,
    (error) => {
      const { code, message } = error as { code?: string; message?: string };
      const said = code === undefined || code === "UnknownError" ? `${message}` : code;
      // It is the server's, of any length.
      return said.slice(0, saidMax);
    },
    "Check credentials, bucket and endpoint (AWS_ENDPOINT_URL, or endpoint_url in the file).",
  );
  return {
    folder: undefined,
    at,
    list: () => failing("listed", "", () => listed(client, prefix)),
    put: (name, file) =>
      failing("written", name, async () => {
        const target = client.file(prefix + name);
        const writer = target.writer({ partSize: partSizeBytes, retry: retries });
        for await (const chunk of createReadStream(file, { highWaterMark: partSizeBytes })) {
          await writer.write(chunk as Uint8Array);
          await writer.flush();
        }
        await writer.end();
      }),
    read: (name, take) => failing("read", name, () => take(client.file(prefix + name).stream())),
    remove: (name) => failing("removed", name, () => client.delete(prefix + name)),
  };
}

async function listed(client: S3Client, prefix: string): Promise<PlacedFile[]> {
  const found: PlacedFile[] = [];
  let continuationToken: string | undefined;
  let pages = 0;
  do {
    if ((pages += 1) > pagesMax) throw new Error("the list does not end");
    const page = await client.list({ prefix, ...(continuationToken && { continuationToken }) });
    for (const { key, size = 0 } of page.contents ?? []) {
      const name = key.slice(prefix.length);
      if (name !== "" && !name.includes("/")) found.push({ name, bytes: size });
    }
    continuationToken = page.isTruncated ? page.nextContinuationToken : undefined;
  } while (continuationToken !== undefined);
  return found;
}

/** What the file has, in AWS's own form (`aws_access_key_id = ...`), or else its variables. */
function s3Options(env: EnvironmentVariables, credentials: string | undefined) {
  const file = credentials ?? env["AWS_SHARED_CREDENTIALS_FILE"];
  const profile = file === undefined ? {} : readProfile(file, env["AWS_PROFILE"] ?? "default");
  // All of them from one place: a token belongs to its key.
  const isInFile = profile["aws_access_key_id"] !== undefined;
  const value = (variable: string) => (isInFile ? profile[variable.toLowerCase()] : env[variable]);
  const { endpoint_url: fromFile = env["AWS_ENDPOINT_URL_S3"] } = profile;
  const given = {
    accessKeyId: value("AWS_ACCESS_KEY_ID"),
    secretAccessKey: value("AWS_SECRET_ACCESS_KEY"),
    sessionToken: value("AWS_SESSION_TOKEN"),
    region: profile["region"] ?? env["AWS_REGION"] ?? env["AWS_DEFAULT_REGION"] ?? "us-east-1",
    endpoint: fromFile ?? env["AWS_ENDPOINT_URL"],
  };
  if (given.accessKeyId === undefined || given.secretAccessKey === undefined) {
    throw new AppError("invalid_request", "There are no credentials for the bucket.", {
      hint: "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or --backup-credentials FILE.",
    });
  }
  const known = Object.entries(given).filter(([, each]) => each !== undefined);
  return Object.fromEntries(known) as Record<string, string>;
}

function readProfile(file: string, profile: string): Record<string, string> {
  const values: Record<string, string> = {};
  let section = profile;
  for (const line of textIn(file).split(/\r?\n/)) {
    const [, heading] = /^\s*\[\s*(?:profile\s+)?(.+?)\s*\]/.exec(line) ?? [];
    section = heading ?? section;
    const [, key, value] = /^\s*([A-Za-z_]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (section === profile && key !== undefined && value !== undefined) {
      values[key.toLowerCase()] = value;
    }
  }
  return values;
}

/**
 * Sends the file and compares what arrived: its size and its SHA-256. If that is not the same, or
 * cannot be read, it is removed there, and AppError `unavailable` thrown.
 */
export async function deliver(place: Place, name: string, file: string): Promise<void> {
  await place.put(name, file);
  const sent = await digestOf(Bun.file(file).stream());
  const { size } = Bun.file(file);
  const arrived = await place
    .read(name, (content) => digestOf(content, size))
    .catch((error: Error) => error);
  if (arrived === sent) return;
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

/** The size and the hash of all of it, or of a little more than `maxBytes`. */
async function digestOf(stream: ReadableStream<Uint8Array>, maxBytes = Infinity): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  let bytes = 0;
  for await (const chunk of stream) {
    hasher.update(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) break;
  }
  return `${bytes} ${hasher.digest("hex")}`;
}
