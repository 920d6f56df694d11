import { parseArgs, type ParseArgsConfig } from "node:util";

/** The script's arguments, by `config`. Wrong ones end it in words, with exit code 2. */
export function argumentsOf<T extends ParseArgsConfig>(config: T) {
  try {
    return parseArgs(config);
  } catch (error) {
    return misused((error as Error).message);
  }
}

/** Ends a script that was called wrongly. */
export function misused(why: string): never {
  process.stderr.write(`Error: ${why}\n`);
  process.exit(2);
}
