import { parseArgs, type ParseArgsConfig } from "node:util";

/** The script's arguments, by `config`. Wrong ones end it in words, with exit code 2. */
export function argumentsOf<T extends ParseArgsConfig>(config: T) {
  try {
    return parseArgs(config);
  } catch (error) {
    // The first sentence; the second one is about arguments that begin with a dash, of which there
    // are none.
    const { message } = error as Error;
    return misused(message.replace(/\. (?:To specify|This command) .*/s, ""));
  }
}

/** How hard xz tries, from 0 to 9, as `--preset` says. */
export function presetOf(text: string): number {
  return /^\d$/.test(text) ? Number(text) : misused(`--preset must be a digit, not "${text}"`);
}

/** Ends a script that was called wrongly. */
export function misused(why: string): never {
  process.stderr.write(`Error: ${why}\n`);
  process.exit(2);
}
