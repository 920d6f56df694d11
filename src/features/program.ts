/** Read at the start: the system renames the file of a program that an upgrade replaced. */
const path = process.execPath;

/** The words that start this program again: the executable, or Bun and the program's file. */
export function program(): string[] {
  return Bun.isStandaloneExecutable ? [path] : [path, Bun.main];
}
