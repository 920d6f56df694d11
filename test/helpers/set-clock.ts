/** A wall clock of the executable's that a test sets. */
import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";

const source = join(import.meta.dir, "../fixtures/clock/clock.c");
const compiler = Bun.which("gcc") ?? Bun.which("x86_64-linux-gnu-gcc");

export interface SettableClock {
  /** What a program that follows this clock needs. */
  readonly env: Readonly<Record<string, string>>;
  /** Sets how much the clock shows more than it should. */
  set(offsetMs: number): void;
}

/** A clock whose files lie in `folder`. */
export function clockIn(folder: string): SettableClock {
  const [library, file] = [join(folder, "clock.so"), join(folder, "clock")];
  const command = [compiler ?? "gcc", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"];
  const { exitCode, stderr } = Bun.spawnSync(command);
  if (exitCode !== 0) throw new Error(stderr.toString());
  writeFileSync(file, new BigInt64Array(1));
  return {
    env: { LD_PRELOAD: library, CLOCK_OFFSET: file },
    set(offsetMs) {
      // Programs have it mapped: it is changed in its place.
      const opened = openSync(file, "r+");
      writeSync(opened, BigInt64Array.of(BigInt(Math.round(offsetMs)) * 1_000_000n));
      closeSync(opened);
    },
  };
}
