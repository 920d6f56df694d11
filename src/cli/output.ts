import { reasonOf } from "../domain/system-error.ts";
import { outputIsClosed } from "../storage/system.ts";

/** How long a command that was asked to stop waits for the readers of its output. */
const flushMaxMs = 1_000;

type WriteError = (Error & { readonly code?: string }) | null | undefined;

const closed = () => new Error("it is closed");

const notWritten = (cause: Error) =>
  new Error(`Standard output cannot be written: ${reasonOf(cause)}.`, { cause });

/** Standard output and standard error of this process. */
export class Output {
  /** What the streams have not taken yet. Bun calls back, but not in the order of the writes. */
  readonly #unwritten = new Set<Promise<void>>();
  #isHeard = false;
  #error: Error | undefined;
  #wasClosed: boolean | undefined;

  /** Standard output. To open it takes milliseconds, so a server does it once it answers. */
  get stdout(): typeof process.stdout {
    // Each write hears of its own error. Unheard, this event would end the process.
    if (!this.#isHeard) process.stdout.on("error", () => {});
    this.#isHeard = true;
    return process.stdout;
  }

  /** Writes data. */
  out(text: string): void {
    if (this.#isClosed()) this.#error ??= closed();
    this.#write(this.stdout, text, this.#note);
  }

  /** Writes messages for the operator. That nobody reads them is no failure. */
  err(text: string): void {
    this.#write(process.stderr, text, () => {});
  }

  /** Writes data, and resolves when the reader took it. Rejects when it cannot be written. */
  write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed()) return reject(notWritten(closed()));
      return this.stdout.write(text, (error: WriteError) => {
        if (!error) resolve();
        else reject(error.code === "EPIPE" ? error : notWritten(error));
      });
    });
  }

  /**
   * Resolves when all that was written has its readers, or a second after `stop`: a reader such as
   * a pager takes its time, and a process that exits drops what is left. Returns the exit code for
   * a command that ended with `exitCode`.
   */
  async end(exitCode: number, stop: Promise<void>): Promise<number> {
    const isRead = await Promise.race([
      Promise.all(this.#unwritten).then(() => true),
      stop.then(() => Bun.sleep(flushMaxMs)).then(() => false),
    ]);
    // A command that failed has said why.
    if (this.#error !== undefined && exitCode === 0) {
      process.stderr.write(`Error: ${notWritten(this.#error).message}\n`);
    }
    return this.#error === undefined && isRead ? exitCode : exitCode || 1;
  }

  #isClosed(): boolean {
    return (this.#wasClosed ??= outputIsClosed());
  }

  /** Notes why standard output did not take everything. A reader may have enough (`head`). */
  readonly #note = (error: WriteError) => {
    if (error && error.code !== "EPIPE") this.#error ??= error;
  };

  #write(stream: NodeJS.WriteStream, text: string, note: (error: WriteError) => void): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#unwritten.add(promise);
    stream.write(text, (error: WriteError) => {
      note(error);
      this.#unwritten.delete(promise);
      resolve();
    });
  }
}
