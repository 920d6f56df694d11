/**
 * The words that start this program again: the executable alone, or Bun with the program's file.
 */
export function program(): string[] {
  return Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, Bun.main];
}
