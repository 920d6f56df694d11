import { readUpTo } from "../../../http/body.ts";
import { ConsoleError } from "./console-error.ts";

/** More than any form here: 2,000 chosen animals, or the longest name in the widest script. */
const formBytesMax = 1024 * 1024;

/** The fields of a form as they were sent. */
export class Form {
  readonly #fields: URLSearchParams;

  constructor(fields: URLSearchParams) {
    this.#fields = fields;
  }

  /** The text of a field without blanks around it; "" when it was not sent. */
  text(name: string): string {
    return (this.#fields.get(name) ?? "").trim();
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

  entries(): [string, string][] {
    return [...this.#fields];
  }
}

/** Reads the form in a request's body. Throws `payload_too_large` or `unsupported_media_type`. */
export async function readForm(request: Request): Promise<Form> {
  const type = request.headers.get("content-type") ?? "";
  if (request.body === null) return new Form(new URLSearchParams());
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) {
    throw new ConsoleError("unsupported_media_type", "encoding");
  }
  const bytes = await readUpTo(request, formBytesMax);
  if (bytes === undefined) {
    throw new ConsoleError("payload_too_large", "formTooLarge");
  }
  return new Form(new URLSearchParams(new TextDecoder().decode(bytes)));
}
