/** Read at the start: the system renames the file of a program that an upgrade replaced. */
const path = process.execPath;

/**
 * The words that start this program again: the executable alone, or Bun with the program's file.
 */
export function program(): string[] {
  return Bun.isStandaloneExecutable ? [path] : [path, Bun.main];
}
