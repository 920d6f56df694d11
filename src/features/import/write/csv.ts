/** What a spreadsheet takes for a formula when it opens a CSV file, perhaps behind apostrophes. */
const formula = /^'*[=+\-@\t\r]/;
const guardedFormula = /^'+[=+\-@\t\r]/;

/**
 * Text that no spreadsheet runs: an apostrophe precedes what it would take for a formula. Any
 * holder of a key can choose a name, and an operator opens the file with a double click.
 * `unguarded` reverses it exactly.
 */
export function guarded(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

/** The text that `guarded` was given. */
export function unguarded(text: string): string {
  return guardedFormula.test(text) ? text.slice(1) : text;
}

const special = /[",\r\n]/;

/** One field by RFC 4180: quoted where it has to be. */
export function csvField(text: string): string {
  return special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
