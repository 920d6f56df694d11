import { Busboy, type BusboyFileStream } from "@fastify/busboy";
import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ConsoleError } from "./console-error.ts";

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
    throw new ConsoleError("unsupported_media_type", "noUpload");
  }
  const parser = new Busboy({
    headers: { "content-type": type },
    limits: { files: 1, fields: 4, fieldSize: fieldBytesMax, fileSize: uploadBytesMax, parts: 5 },
  });
  const body = Readable.fromWeb(request.body);
  let written: Promise<Upload> | undefined;
  let failure: unknown;
  parser.on("file", (_field: string, file: BusboyFileStream, name: string) => {
    written = keep(file, name, path);
    written.catch((error: unknown) => {
      // Nobody takes the rest of a file that cannot be written, such as where the disk is full.
      if (body.destroyed || error instanceof ConsoleError) return;
      failure = error;
      body.destroy();
    });
  });
  try {
    await pipeline(body, parser);
  } catch (error) {
    if (failure !== undefined) throw failure;
    throw new ConsoleError("invalid_request", "upload", { cause: error });
  }
  return (await written) ?? { name: "", bytes: 0 };
}

async function keep(file: BusboyFileStream, name: string, path: string): Promise<Upload> {
  const target = createWriteStream(path, { mode: 0o600, flags: "wx" });
  await pipeline(file, target);
  if (file.truncated) {
    throw new ConsoleError("payload_too_large", "tooLarge");
  }
  // What a browser sends as a name may be a path of its machine.
  return { name: name.replace(/^.*[\\/]/s, "").slice(0, 255), bytes: target.bytesWritten };
}
