/**
 * `text` as one word for a POSIX shell: in a command that somebody copies, a space in a path must
 * not make it two.
 */
export function shellWord(text: string): string {
  return /^[\w%+,./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
