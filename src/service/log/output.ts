import { close, closeSync, constants, open, openSync, readSync, statSync, write } from "node:fs";

/** Lines are gathered in blocks of this size, each written at once. */
const blockBytes = 256 * 1024;
/** Maximum number of blocks: 4 MiB, which a stalled disk may hold up before lines are dropped. */
const blocksMax = 16;
/** The longest line in bytes; the rest of a longer one is cut off. */
export const lineBytesMax = 8 * 1024;
/** A character takes three bytes of UTF-8 at the most for each unit of its length. */
const bytesPerUnitMax = 3;
/** How long a line may wait for others that are written with it. */
const gatherMs = 10;
/** Pause before a failed write is tried again: for a slow reader, and for anything else. */
const retryMs = { busy: 20, failed: 1_000 } as const;
/** Readable by the service's user alone, like the data. */
const fileMode = 0o600;
/** To append, and without waiting for the reader of a pipe. */
const appendFlags =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;

const standardError = 2;

export interface LogOutputOptions {
  /** The file to append to; standard error if there is none. */
  readonly path: string | undefined;
  /** The line that says how many were dropped. */
  readonly describeDropped: (count: number) => string;
  /** Called once each time that writing begins to fail. */
  readonly onProblem: (error: Error) => void;
  /** Where lines go instead of standard error; for tests. */
  readonly fd?: number;
}

/**
 * Where log lines go. Writing a line never waits: lines gather in memory and another thread writes
 * them, one block at a time. When they come faster than the disk or the reader takes them, the
 * newest are dropped and counted.
 */
export class LogOutput {
  readonly #options: LogOutputOptions;
  #fd: number;
  /** Takes the lines that come in. */
  #open = new LineBuffer(blockBytes);
  /** Blocks to write, oldest first. */
  readonly #full: LineBuffer[] = [];
  #spare: LineBuffer | undefined;
  /** Lines that were dropped: all of them, and those that the log has reported. */
  #dropped = 0;
  #toldDropped = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | undefined;
  #mustReopen = false;
  #isFailing = false;
  /** Set when the process ends: what fails now is given up. */
  #isClosing = false;
  /** True when nobody reads standard error any more. */
  #isGone = false;

  /** Throws the system's error when the file cannot be opened. */
  constructor(options: LogOutputOptions) {
    this.#options = options;
    this.#fd = options.fd ?? standardError;
    if (options.path === undefined) return;
    this.#fd = openSync(options.path, appendFlags, fileMode);
    if (endsTorn(options.path)) this.#open.putAscii("\n");
  }

  /**
   * Where the next line goes, with space for `size` bytes; call `end` right after. Returns
   * undefined when the line is dropped. Never waits.
   */
  begin(size: number): LineBuffer | undefined {
    if (this.#open.hasRoom(size)) return this.#open;
    if (this.#isGone || this.#full.length >= blocksMax - 1) {
      this.#dropped += 1;
      return undefined;
    }
    this.#cut();
    this.#start();
    return this.#open;
  }

  end(): void {
    this.#timer ??= setTimeout(() => this.#start(), gatherMs);
  }

  /** Takes a line without its newline. */
  write(line: string): void {
    const shown = line.slice(0, lineBytesMax / bytesPerUnitMax - 1);
    const buffer = this.begin(lineBytesMax);
    if (buffer === undefined) return;
    buffer.putText(shown);
    buffer.putAscii("\n");
    this.end();
  }

  /** Lines that were dropped since the start. */
  get droppedTotal(): number {
    return this.#dropped;
  }

  /** Reopens the file by its name, for when something moved it away. */
  reopen(): void {
    if (this.#options.path === undefined) return;
    this.#mustReopen = true;
    this.#start();
  }

  /** Resolves when all lines are written, or after `timeoutMs` with what is left given up. */
  async close(timeoutMs: number): Promise<void> {
    this.#isClosing = true;
    this.#start();
    await Promise.race([this.#running, Bun.sleep(timeoutMs)]);
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      // What became due in between, when this run had ended already and no other could begin.
      if (this.#hasDue && !this.#isClosing) this.#start();
    });
  }

  /** True when there is something to write now. Lines that came last wait for their timer. */
  get #hasDue(): boolean {
    return (
      this.#full.length > 0 ||
      this.#mustReopen ||
      (this.#open.length > 0 && (this.#timer === undefined || this.#isClosing))
    );
  }

  async #run(): Promise<void> {
    while (this.#hasDue) {
      if (this.#mustReopen) await this.#reopen();
      if (this.#full.length === 0 && this.#open.length > 0) this.#cut();
      const [block] = this.#full;
      if (block === undefined || !(await this.#writeBlock(block))) return;
      this.#full.shift();
      block.clear();
      this.#spare = block;
      this.#tellDropped();
    }
  }

  #cut(): void {
    this.#full.push(this.#open);
    this.#open = this.#spare ?? new LineBuffer(blockBytes);
    this.#spare = undefined;
  }

  /** Returns false when the block could not be written and to try again makes no sense. */
  async #writeBlock(block: LineBuffer): Promise<boolean> {
    for (let written = 0; written < block.length && !this.#isGone;) {
      try {
        const left = block.from(written);
        written += await numberOf((done) => write(this.#fd, left, 0, left.length, null, done));
        this.#isFailing = false;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        const isBusy = code === "EAGAIN";
        this.#isGone = this.#options.path === undefined && (code === "EPIPE" || code === "EBADF");
        if (!isBusy && !this.#isFailing) this.#options.onProblem(error as Error);
        this.#isFailing = !isBusy;
        if (this.#isClosing && !isBusy) return false;
        await Bun.sleep(isBusy ? retryMs.busy : retryMs.failed);
        if (this.#mustReopen) {
          await this.#reopen();
          // The line that the old file has a part of is whole in the new one.
          written = block.lineStart(written);
        }
      }
    }
    // Nobody reads the log any more: what is left of it goes nowhere, and the service goes on.
    return true;
  }

  #tellDropped(): void {
    const count = this.#dropped - this.#toldDropped;
    if (count === 0) return;
    this.#toldDropped = this.#dropped;
    this.write(this.#options.describeDropped(count));
  }

  async #reopen(): Promise<void> {
    this.#mustReopen = false;
    const { path } = this.#options;
    if (path === undefined) return;
    try {
      const fd = await numberOf((done) => open(path, appendFlags, fileMode, done));
      const old = this.#fd;
      this.#fd = fd;
      close(old);
    } catch (error) {
      this.#options.onProblem(error as Error);
    }
  }
}

/** True when a full disk cut off the last line of the file. False where the file cannot be read. */
function endsTorn(path: string): boolean {
  try {
    const stat = statSync(path);
    if (!stat.isFile() || stat.size === 0) return false;
    const fd = openSync(path, "r");
    const last = new Uint8Array(1);
    readSync(fd, last, 0, 1, stat.size - 1);
    closeSync(fd);
    return last[0] !== newline;
  } catch {
    return false;
  }
}

/** The number that a call of node:fs hands over. To load node:util for it takes 3 ms. */
function numberOf(
  call: (done: (error: Error | null | undefined, result: number) => void) => void,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  call((error, result) => (error ? reject(error) : resolve(result)));
  return promise;
}

const encoder = new TextEncoder();
/** Up to this length a loop is faster than the call that copies. */
const loopedMax = 16;
const zero = "0".charCodeAt(0);
const newline = "\n".charCodeAt(0);

/** Lines as bytes, without strings that would only be encoded. The caller checks the space. */
export class LineBuffer {
  readonly #bytes: Uint8Array;
  #length = 0;

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

  /** Where the line begins that byte `at` is in. */
  lineStart(at: number): number {
    return this.#bytes.subarray(0, at).lastIndexOf(newline) + 1;
  }

  clear(): void {
    this.#length = 0;
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
