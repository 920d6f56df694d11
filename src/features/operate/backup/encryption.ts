/** Backups that only the owner of a key can read: age (age-encryption.org/v1). */
import { createWriteStream, readFileSync, rmSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { AppError } from "../../../domain/errors.ts";
import { reasonNotMade, reasonOf } from "../../../domain/system-error.ts";

/** What the name of an encrypted backup ends with. */
export const encryptedEnding = ".age";

/** The library is loaded where it is wanted: few commands need it. */
const age = () => import("age-encryption");

/** Encrypts for the owner of this public key. Throws AppError if it is none. */
export async function encrypterFor(recipient: string) {
  const { Encrypter } = await age();
  const encrypter = new Encrypter();
  try {
    encrypter.addRecipient(recipient);
  } catch (error) {
    throw new AppError("invalid_request", `${recipient} is not a public key of age.`, {
      cause: error,
      hint: "age-keygen -y FILE prints it.",
    });
  }
  return encrypter;
}

/** Decrypts `stream` with the private keys in `identityFile`. Throws AppError if none fits. */
export async function decryptTo(
  stream: ReadableStream<Uint8Array>,
  to: string,
  identityFile: string,
): Promise<void> {
  const { Decrypter } = await age();
  const decrypter = new Decrypter();
  const words = textIn(identityFile).split(/\s+/);
  const identities = words.filter((word) => word.startsWith("AGE-SECRET-KEY-"));
  if (identities.length === 0) throw noKey(identityFile);
  try {
    for (const identity of identities) decrypter.addIdentity(identity);
  } catch (error) {
    throw noKey(identityFile, error);
  }
  try {
    await save(await decrypter.decrypt(stream.pipeThrough(headed())), to);
  } catch (error) {
    if (error instanceof AppError) throw error;
    const { message } = error as Error;
    throw new AppError("unavailable", `The backup cannot be decrypted: ${message}.`, {
      cause: error,
      hint: `Check that ${identityFile} belongs to the recipient of the backup.`,
    });
  }
}

/** A header has some 200 bytes for each recipient, and the library reads all of it at once. */
const headerMaxBytes = 64 * 1024;

/** Passes on what begins with a header of age that ends within `maxBytes`. */
export function headed(maxBytes = headerMaxBytes): TransformStream<Uint8Array, Uint8Array> {
  let begun: Buffer | undefined = Buffer.alloc(0);
  return new TransformStream({
    transform(chunk, controller) {
      if (begun === undefined) return controller.enqueue(chunk);
      begun = Buffer.concat([begun, chunk]);
      const end = begun.subarray(0, maxBytes).indexOf("\n--- ");
      if (end < 0 && begun.length < maxBytes) return undefined;
      if (end < 0) throw new Error(`it has no header of age in its first ${maxBytes} bytes`);
      controller.enqueue(begun);
      begun = undefined;
      return undefined;
    },
    flush(controller) {
      // What is shorter is for the library to refuse.
      if (begun !== undefined) controller.enqueue(begun);
    },
  });
}

function noKey(file: string, cause?: unknown): AppError {
  return new AppError("invalid_request", `${file} has no private key of age.`, {
    cause,
    hint: "Name the file that age-keygen made.",
  });
}

/** The text of a file with keys. Throws AppError `unavailable` where it cannot be read. */
export function textIn(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new AppError("unavailable", `Cannot read ${file}: ${reasonOf(error)}.`, { cause: error });
  }
}

const ends = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Removes these files on disposal, or if one of these signals ends the process before. */
export function temporary(...files: readonly string[]): Disposable {
  const remove = () => {
    for (const file of files) rmSync(file, { force: true });
    for (const signal of ends) process.off(signal, end);
  };
  const end = (signal: NodeJS.Signals) => {
    remove();
    process.kill(process.pid, signal);
  };
  for (const signal of ends) process.on(signal, end);
  return { [Symbol.dispose]: remove };
}

/** Writes a new file, and returns once it is on the disk; one that is there stays as it is. */
export async function save(stream: ReadableStream<Uint8Array>, to: string): Promise<void> {
  const target = createWriteStream(to, { flags: "wx", mode: 0o600, flush: true });
  try {
    await pipeline(Readable.fromWeb(stream as never), target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new AppError("unavailable", `${to} cannot be written: ${reasonNotMade(error)}.`, {
      cause: error,
    });
  }
}
