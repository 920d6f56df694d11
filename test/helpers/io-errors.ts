/** A disk whose n-th write or sync fails, for the executable. */
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";

const source = join(import.meta.dir, "../fixtures/io-errors/io-errors.c");

interface IoErrors {
  /** What a program whose disk fails needs. */
  readonly env: Readonly<Record<string, string>>;
  /** Lets the call fail that comes as the `at`-th from now on, and all after it if it is for good. */
  failAt(at: number, options?: { readonly forGood: boolean }): void;
  /** Ends it. Returns how many calls failed since `failAt`. */
  heal(): number;
}

/** A failing disk whose files lie in `folder`. It needs a compiler of C. */
export function ioErrorsIn(folder: string): IoErrors {
  const [library, file] = [join(folder, "io-errors.so"), join(folder, "io-errors")];
  const command = ["gcc", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"];
  const { exitCode, stderr } = Bun.spawnSync(command);
  if (exitCode !== 0) throw new Error(stderr.toString());
  const set = (...numbers: readonly number[]) => {
    // Programs have it mapped: it is changed in its place.
    const opened = openSync(file, "r+");
    writeSync(opened, Int32Array.from(numbers));
    closeSync(opened);
  };
  writeFileSync(file, new Int32Array(3));
  return {
    env: { LD_PRELOAD: library, IO_ERRORS: file },
    failAt: (at, { forGood } = { forGood: false }) => set(at, forGood ? 1 : 0, 0),
    heal() {
      const { buffer } = Uint8Array.from(readFileSync(file));
      set(0, 0, 0);
      return new Int32Array(buffer)[2] ?? 0;
    },
  };
}
