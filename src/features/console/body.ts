/** What people send: the fields of a form, or a file. Nothing of it is read without a session. */
import { Busboy, type BusboyFileStream } from "@fastify/busboy";
import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { AppError } from "../../domain/errors.ts";
import { readUpTo } from "../../http/body.ts";
import { failure } from "./words/index.ts";

/** More than any form here: 2,000 chosen animals, or the longest name in the widest script. */
const formBytesMax = 1024 * 1024;

/** The fields of a form as they were sent. */
export class Form {
  readonly #fields: URLSearchParams;

  constructor(fields = new URLSearchParams()) {
    this.#fields = fields;
  }

  /** The text of a field without blanks around it; "" when it was not sent. */
  text(name: string): string {
    return this.exact(name).trim();
  }

  /** The text of a field as it was sent. */
  exact(name: string): string {
    return this.#fields.get(name) ?? "";
  }

  has(name: string): boolean {
    return this.#fields.has(name);
  }

  all(name: string): string[] {
    return this.#fields.getAll(name);
  }
}

/** Reads the form in a request's body. Throws `payload_too_large` or `unsupported_media_type`. */
export async function readForm({ request }: { readonly request: Request }): Promise<Form> {
  if (request.body === null) return new Form();
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) {
    throw failure("unsupported_media_type", "encoding");
  }
  const bytes = await readUpTo(request, formBytesMax);
  if (bytes === undefined) throw failure("payload_too_large", "formTooLarge");
  return new Form(new URLSearchParams(new TextDecoder().decode(bytes)));
}

/** The largest file that is taken. */
export const uploadBytesMax = 256 * 1024 * 1024;
/** A field beside the file: a switch, or a name. */
const fieldBytesMax = 16 * 1024;

interface Upload {
  /** The file's name as the person's machine has it, without a path; "" when no file was chosen. */
  readonly name: string;
  readonly bytes: number;
}

/**
 * Writes the file of a form to `path` while it arrives, so that its size costs no memory. Throws
 * `payload_too_large`, or `invalid_request` when the form is not whole.
 */
export async function receiveFile(request: Request, path: string): Promise<Upload> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^multipart\/form-data\s*;/i.test(type) || request.body === null) {
    throw failure("unsupported_media_type", "noUpload");
  }
  const parser = new Busboy({
    headers: { "content-type": type },
    limits: { files: 1, fields: 4, fieldSize: fieldBytesMax, fileSize: uploadBytesMax, parts: 5 },
  });
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
  try {
    await pipeline(body, parser);
  } catch (error) {
    if (broken !== undefined) throw broken;
    throw failure("invalid_request", "upload", error);
  }
  return (await written) ?? { name: "", bytes: 0 };
}

async function keep(file: BusboyFileStream, name: string, path: string): Promise<Upload> {
  const target = createWriteStream(path, { mode: 0o600, flags: "wx" });
  await pipeline(file, target);
  if (file.truncated) throw failure("payload_too_large", "tooLarge");
  // What a browser sends as a name may be a path of its machine.
  return { name: name.replace(/^.*[\\/]/s, "").slice(0, 255), bytes: target.bytesWritten };
}
