import { statSync } from "node:fs";
import { AppError } from "../../domain/errors.ts";

/** How often a server looks whether its files are still there. */
const watchIntervalMs = 250;

/**
 * A database, its log and the memory that its connections share: without one of them the others
 * keep nothing.
 */
const endings = ["", "-wal", "-shm"];

/**
 * Sees whether the files that a server has open are still the ones of its data folder. SQLite goes
 * on writing into a file that was moved, removed or replaced, and says that all is well. Files are
 * compared by device and inode.
 */
export class FileWatch {
  readonly #identities: ReadonlyMap<string, string>;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #onLost: (error: AppError) => void;
  #lost: AppError | undefined;

  /** `onLost` is told once each time that a file is found missing. */
  constructor(databases: readonly string[], onLost: (error: AppError) => void) {
    const paths = databases.flatMap((path) => endings.map((ending) => path + ending));
    const found = paths.map((path) => [path, identityOf(path)] as const);
    this.#identities = new Map(
      found.filter((each): each is [string, string] => each[1] !== undefined),
    );
    this.#onLost = onLost;
    this.#timer = setInterval(() => this.look(), watchIntervalMs);
    this.#timer.unref();
  }

  /**
   * What was found when the files were last looked at: undefined while all of them are in their
   * places.
   */
  get lost(): AppError | undefined {
    return this.#lost;
  }

  /** Looks at the files now. */
  look(): AppError | undefined {
    const before = this.#lost;
    this.#lost = this.#find();
    if (this.#lost !== undefined && before === undefined) this.#onLost(this.#lost);
    return this.#lost;
  }

  #find(): AppError | undefined {
    for (const [path, identity] of this.#identities) {
      const now = identityOf(path);
      if (now === identity) continue;
      const what = now === undefined ? "was moved or removed" : "was replaced by another file";
      const why = `${path} ${what} while the service has it open`;
      return new AppError("unavailable", "The store's files are not in their place.", {
        cause: new Error(why),
        why,
        hint: "Put it back, or stop the service, restore the file and start again.",
        retryAfterSeconds: 1,
      });
    }
    return undefined;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

/** Device and inode (stat(2)), or undefined where the file cannot be found. */
function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev} ${ino}`;
  } catch {
    return undefined;
  }
}
