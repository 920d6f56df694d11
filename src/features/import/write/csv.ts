/**
 * Where a spreadsheet may take what follows for a formula, perhaps behind apostrophes: at the
 * beginning, and behind what another country's spreadsheet ends a field or a line at.
 */
const formula = /(?<=^|[;\t\r\n])(?='*[=+\-@\t\r\n＝＋－＠])/g;
const guardedFormula = /(?<=^|[;\t\r\n])'(?='*[=+\-@\t\r\n＝＋－＠])/g;

/**
 * Text that no spreadsheet runs: an apostrophe precedes what it would take for a formula. Any
 * holder of a key can choose a name, and an operator opens the file with a double click.
 * `unguarded` reverses it exactly.
 */
export function guarded(text: string): string {
  return text.replace(formula, "'");
}

/** The text that `guarded` was given. */
export function unguarded(text: string): string {
  return text.replace(guardedFormula, "");
}

/**
 * A text as a workbook has it, so that an import reads the same: `_x0041_` is a character there,
 * and the import takes an apostrophe before a formula away.
 */
export function inWorkbook(text: string): string {
  const kept = unguarded(text) === text ? text : guarded(text);
  return kept.replaceAll(/_(?=x[\dA-F]{4}_)/gi, "_x005F_");
}

const special = /[",\t\r\n]/;

/** One field by RFC 4180: quoted where it has to be. */
export function csvField(text: string): string {
  return special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
