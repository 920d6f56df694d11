import type { Io } from "../io.ts";
import { stylesOf, type Paint } from "./style.ts";
import { cut, pad, printable } from "./text.ts";

export interface Column {
  readonly title: string;
  /** Numbers stand at the right of their column. */
  readonly align?: "left" | "right";
  /** True when it may be cut short where the terminal is too narrow. */
  readonly flexible?: boolean;
}

/** A cell, and how it is painted. */
export type Cell = string | { readonly text: string; readonly paint: Paint };

const gap = "  ";
/** A flexible column keeps at least so many cells: fewer say nothing. */
const flexibleCellsMin = 8;

/**
 * Prints rows as columns that line up. On a terminal they fit its width: the widest flexible column is cut first.
 * Elsewhere nothing is cut, so that a script finds everything.
 */
export function printTable(
  io: Io,
  header: readonly (string | Column)[],
  rows: readonly (readonly Cell[])[],
): void {
  const columns = header.map((column) => (typeof column === "string" ? { title: column } : column));
  const { bold } = stylesOf(io);
  const cells = rows.map((row) =>
    row.map((cell) => (typeof cell === "string" ? { text: cell, paint: String } : cell)),
  );
  const lines = [columns.map(({ title }) => ({ text: title, paint: bold })), ...cells].map((line) =>
    line.map(({ text, paint }) => ({ text: printable(text), paint })),
  );
  const natural = columns.map((_, at) =>
    Math.max(...lines.map((line) => Bun.stringWidth(line[at]?.text ?? ""))),
  );
  const widths = io.isTerminal ? fitted(columns, natural, io.columns) : natural;
  for (const line of lines) {
    const shown = line.map(({ text, paint }, at) => {
      const fits = cut(text, widths[at] ?? 0);
      const filled = pad(fits, widths[at] ?? 0, columns[at]?.align);
      return filled.replace(fits, () => paint(fits));
    });
    io.out(`${shown.join(gap).trimEnd()}\n`);
  }
}

/** The widths with which the columns fit into `columnsMax` cells, as far as flexible ones can give way. */
function fitted(
  columns: readonly Column[],
  natural: readonly number[],
  columnsMax: number,
): number[] {
  const widths = [...natural];
  let excess = widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1));
  excess -= columnsMax;
  while (excess > 0) {
    let widest: number | undefined;
    for (const [at, width] of widths.entries()) {
      if (columns[at]?.flexible !== true || width <= flexibleCellsMin) continue;
      if (widest === undefined || width > (widths[widest] ?? 0)) widest = at;
    }
    if (widest === undefined) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
    excess -= 1;
  }
  return widths;
}
