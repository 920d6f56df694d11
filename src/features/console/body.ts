/** What people send: the fields of a form, or a file. Nothing of it is read without a session. */
import { BodyReader } from "../../http/body.ts";
import type { Arrival } from "./visit.ts";
import { failure, type FailureCode } from "./words/index.ts";

/** More than any form here has: 2,000 chosen animals. */
const fieldsMax = 2_100;
const kibibyte = 1024;
/** A file of 16 MiB, and what stands around it in its form. */
const uploadBytesMax = (16 * kibibyte + 16) * kibibyte;

/** Bodies that may be unfinished at a time: in all and of one address. */
const bodies = new BodyReader({ bytes: 64 * kibibyte, seconds: 30, atOnce: 64, perAddress: 8 });
const uploads = new BodyReader({ bytes: uploadBytesMax, seconds: 600, atOnce: 4, perAddress: 4 });

export class Form extends URLSearchParams {
  /** The text of a field without blanks around it; "" when it was not sent. */
  text(name: string): string {
    return this.exact(name).trim();
  }

  exact(name: string): string {
    return this.get(name) ?? "";
  }

  /** The answers of the fields whose names begin so, by the rest of their names. */
  under(prefix: string): (readonly [string, string])[] {
    const all = [...this].filter(([name, value]) => name.startsWith(prefix) && value !== "");
    return all.map(([name, value]) => [name.slice(prefix.length), value]);
  }

  /** What the field had when its page was made; undefined where the page does not say. */
  was(name: string): string | undefined {
    return this.get(`was-${name}`) ?? undefined;
  }

  /** True where its person changed the field: a field holds one line, whatever it was. */
  isChanged(name: string): boolean {
    const was = this.was(name);
    return was === undefined || oneLine(this.exact(name)) !== oneLine(was);
  }
}

const oneLine = (text: string) => text.replaceAll(/[\r\n]/g, "");

type Sent = Pick<Arrival, "request" | "sender">;

/** Reads the form that a request sends. Throws AppError with the code of what is wrong with it. */
export async function readForm(sent: Sent): Promise<Form> {
  const { request } = sent;
  if (request.body === null) return new Form();
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) {
    throw failure("unsupported_media_type", "interrupted");
  }
  const body = await read(bodies, sent, "formTooLarge");
  const form = new Form(new TextDecoder().decode(body));
  if (form.size > fieldsMax) throw failure("payload_too_large", "formTooLarge");
  return form;
}

async function read(reader: BodyReader, { request, sender }: Sent, tooLarge: FailureCode) {
  const body = await reader.read(request, sender);
  if (body instanceof Uint8Array) return body;
  if (body === "too large") throw failure("payload_too_large", tooLarge);
  if (body === "too many") throw failure("unavailable", "crowded");
  throw failure("invalid_request", "interrupted");
}

/**
 * Reads the file of a form, with its name on the person's machine; "" when none was chosen. Throws
 * AppError with the code of what is wrong with it.
 */
export async function readFile(sent: Sent) {
  const type = sent.request.headers.get("content-type") ?? "";
  if (!/^multipart\/form-data\s*;/i.test(type) || sent.request.body === null) {
    throw failure("unsupported_media_type", "noUpload");
  }
  const body = await read(uploads, sent, "tooLarge");
  const fields = await new Response(body, { headers: { "content-type": type } })
    .formData()
    .catch((error: unknown) => {
      throw failure("invalid_request", "interrupted", error);
    });
  const file = fields.get("file");
  if (!(file instanceof File)) return { name: "", bytes: new Uint8Array() };
  return { name: baseName(file.name), bytes: await file.bytes() };
}

const baseName = (path: string | undefined) => (path ?? "").replace(/^.*[\\/]/s, "").slice(0, 255);
