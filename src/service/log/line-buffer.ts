const encoder = new TextEncoder();
/** Up to this length a loop is faster than the call that copies. */
const loopedMax = 16;
const zero = "0".charCodeAt(0);

/**
 * Lines as bytes, for a log that writes many of them: no string is made that only exists to be encoded. The caller sees
 * to it that there is room.
 */
export class LineBuffer {
  readonly #bytes: Uint8Array;
  #length = 0;
  lines = 0;

  constructor(size: number) {
    this.#bytes = new Uint8Array(size);
  }

  get length(): number {
    return this.#length;
  }

  hasRoom(size: number): boolean {
    return this.#length + size <= this.#bytes.length;
  }

  /** What was put in from byte `start` on. */
  from(start: number): Uint8Array {
    return this.#bytes.subarray(start, this.#length);
  }

  clear(): void {
    this.#length = 0;
    this.lines = 0;
  }

  put(part: Uint8Array): void {
    const length = this.#length;
    if (part.length > loopedMax) this.#bytes.set(part, length);
    else for (let i = 0; i < part.length; i += 1) this.#bytes[length + i] = part[i] ?? 0;
    this.#length = length + part.length;
  }

  putAscii(text: string): void {
    const bytes = this.#bytes;
    let at = this.#length;
    for (let i = 0; i < text.length; i += 1) bytes[at++] = text.charCodeAt(i);
    this.#length = at;
  }

  /** Puts a whole number from 0 to 2^31 - 1 as decimal digits. */
  putInteger(value: number): void {
    const bytes = this.#bytes;
    let rest = value | 0;
    let digits = 1;
    for (let more = rest; more >= 10; more = (more / 10) | 0) digits += 1;
    let at = this.#length + digits;
    this.#length = at;
    for (; digits > 0; digits -= 1) {
      bytes[--at] = zero + (rest % 10);
      rest = (rest / 10) | 0;
    }
  }

  putText(text: string): void {
    this.#length += encoder.encodeInto(text, this.#bytes.subarray(this.#length)).written;
  }
}
