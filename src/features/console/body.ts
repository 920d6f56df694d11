/** What people send: the fields of a form, or a file. Nothing of it is read without a session. */
import { Busboy, type BusboyFileStream } from "@fastify/busboy";
import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { minuteMs } from "../../domain/clock.ts";
import { AppError } from "../../domain/errors.ts";
import { type BodyFailure, BodyReader } from "../../http/body.ts";
import type { Arrival, Visit } from "./visit.ts";
import { failure } from "./words/index.ts";

const formBytesMax = 64 * 1024;
/** More than any form here has: 2,000 chosen animals. */
const fieldsMax = 2_100;

/** Bodies that may be unfinished at a time: in all and of one address, forms and files alike. */
const bodies = new BodyReader({ bytes: formBytesMax, seconds: 30, atOnce: 64, perAddress: 8 });

/** The fields of a form as they were sent. */
export class Form extends URLSearchParams {
  /** The text of a field without blanks around it; "" when it was not sent. */
  text(name: string): string {
    return this.exact(name).trim();
  }

  /** The text of a field as it was sent. */
  exact(name: string): string {
    return this.get(name) ?? "";
  }
}

/**
 * Reads the form that a request sends. Throws AppError with the code of what is wrong with it, and
 * for the form of somebody who was removed while it was on its way.
 */
export async function readForm({ request, sender, people, person }: Sent): Promise<Form> {
  if (request.body === null) return new Form();
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) {
    throw failure("unsupported_media_type", "encoding");
  }
  const body = await bodies.read(request, sender);
  if (!(body instanceof Uint8Array)) throw failures[body]();
  if (person !== undefined && (await people?.isHere(person.id)) === false) {
    throw failure("forbidden", "removed");
  }
  const form = new Form(new TextDecoder().decode(body));
  if (form.size > fieldsMax) throw failures["too large"]();
  return form;
}

/** A request, and who sends it. */
type Sent = Pick<Arrival, "request" | "sender"> & Partial<Pick<Visit, "people" | "person">>;

const failures: Readonly<Record<BodyFailure, () => AppError>> = {
  "too large": () => failure("payload_too_large", "formTooLarge"),
  "too many": () => failure("unavailable", "crowded"),
  interrupted: () => failure("invalid_request", "interrupted"),
  "unknown expectation": () => failure("invalid_request", "interrupted"),
};

export const uploadBytesMax = 64 * 1024 * 1024;
/** A field beside the file: a switch, or a name. */
const fieldBytesMax = 16 * 1024;
/** How long a file may take, and how slow it may be after its first half minute, on average. */
const uploadMaxMs = 10 * minuteMs;
const slowBytesPerSecond = 16_000;
const graceMs = minuteMs / 2;
const lookMs = 1_000;

interface Upload {
  /** The file's name as the person's machine has it, without a path; "" when no file was chosen. */
  readonly name: string;
  readonly bytes: number;
}

/**
 * Writes the file of a form to `path` while it arrives, so that its size costs no memory. Throws
 * AppError with the code of what is wrong: too large, too slow, or not whole.
 */
export async function receiveFile(
  { request, sender }: Sent,
  path: string,
  stop: AbortSignal,
): Promise<Upload> {
  const received = await bodies.during(sender, () => receive(request, path, stop));
  if (received === "too many") throw failures[received]();
  return received;
}

async function receive(request: Request, path: string, stop: AbortSignal): Promise<Upload> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^multipart\/form-data\s*;/i.test(type) || request.body === null) {
    throw failure("unsupported_media_type", "noUpload");
  }
  const parser = parserOf(type);
  const body = Readable.fromWeb(request.body);
  let written: Promise<Upload> | undefined;
  let broken: unknown;
  parser.on("file", (_field: string, file: BusboyFileStream, name: string) => {
    written = keep(file, name, path);
    written.catch((error: unknown) => {
      // Nobody takes the rest of a file that cannot be written, such as where the disk is full.
      if (body.destroyed || error instanceof AppError) return;
      broken = error;
      body.destroy();
    });
  });
  using _ = paced(body, stop);
  try {
    await pipeline(body, parser);
  } catch (error) {
    if (broken !== undefined) throw broken;
    throw failure("invalid_request", "interrupted", error);
  }
  return (await written) ?? { name: "", bytes: 0 };
}

/** Throws AppError for a boundary that is missing, or longer than RFC 2046 has it by far. */
function parserOf(type: string): InstanceType<typeof Busboy> {
  try {
    return new Busboy({
      headers: { "content-type": type },
      limits: { files: 1, fields: 4, fieldSize: fieldBytesMax, fileSize: uploadBytesMax, parts: 5 },
    });
  } catch (error) {
    throw failure("unsupported_media_type", "noUpload", error);
  }
}

async function keep(file: BusboyFileStream, name: string, path: string): Promise<Upload> {
  const target = createWriteStream(path, { mode: 0o600, flags: "wx" });
  await pipeline(file, target);
  if (file.truncated) throw failure("payload_too_large", "tooLarge");
  // What a browser sends as a name may be a path of its machine.
  return { name: name.replace(/^.*[\\/]/s, "").slice(0, 255), bytes: target.bytesWritten };
}

/** Ends a file that comes too slowly, or that is not wanted any more. */
export function paced(
  body: Readable,
  stop: AbortSignal,
  clock = () => performance.now(),
  everyMs = lookMs,
): Disposable {
  const startMs = clock();
  let bytes = 0;
  body.on("data", (chunk: Uint8Array) => (bytes += chunk.length));
  const end = () => body.destroy();
  const looking = setInterval(() => {
    const ms = clock() - startMs;
    const isSlow = bytes < (slowBytesPerSecond * (ms - graceMs)) / 1_000;
    if (isSlow || ms > uploadMaxMs) end();
  }, everyMs);
  stop.addEventListener("abort", end, { once: true });
  return { [Symbol.dispose]: () => clearInterval(looking) };
}
