import type { Io } from "../io.ts";
import { stylesOf, type Paint } from "./style.ts";
import { cut, pad, printable } from "./text.ts";

export interface Column {
  readonly title: string;
  /** Numbers stand at the right of their column. */
  readonly align?: "left" | "right";
  /** True when it may be cut short where the terminal is too narrow. */
  readonly flexible?: boolean;
  /** The fewest cells that say something, where those of its kind are too few. */
  readonly cellsMin?: number;
  /** True when a part of it says nothing. */
  readonly whole?: boolean;
  /** True when it is left out where the terminal is too narrow for all columns. */
  readonly optional?: boolean;
}

/** A cell, and how it is painted. */
type Cell = string | { readonly text: string; readonly paint: Paint };

const gap = "  ";
/** The fewest cells of a flexible column, and of other text: fewer say nothing. */
const flexibleCellsMin = 8;
const textCellsMin = 4;

/**
 * Prints rows as aligned columns. On a terminal they fit its width: the widest flexible column is
 * truncated first, then other text, then optional columns are left out, the last one first.
 * Elsewhere nothing is truncated, because scripts read it.
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
  const extra = io.isTerminal ? superfluous(columns, natural, io.columns) : -1;
  if (extra !== -1) {
    const kept = rows.map((row) => row.toSpliced(extra, 1));
    return printTable(io, header.toSpliced(extra, 1), kept);
  }
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

const isFlexible = ({ flexible = false }: Column) => flexible;
const isText = ({ align = "left", whole = false }: Column) => align === "left" && !whole;
const widthOf = (widths: readonly number[]) =>
  widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1));

function cellsMinOf(column: Column): number {
  const ofKind = isFlexible(column) ? flexibleCellsMin : isText(column) ? textCellsMin : Infinity;
  return column.cellsMin ?? ofKind;
}

/** The place of the column to leave out, or -1 where all of them fit or none may be left out. */
function superfluous(
  columns: readonly Column[],
  natural: readonly number[],
  columnsMax: number,
): number {
  const least = columns.map((column, at) => Math.min(natural[at] ?? 0, cellsMinOf(column)));
  return widthOf(least) <= columnsMax ? -1 : columns.findLastIndex(({ optional }) => optional);
}

/** The widths with which the columns fit into `columnsMax` cells. A number never gives way. */
function fitted(
  columns: readonly Column[],
  natural: readonly number[],
  columnsMax: number,
): number[] {
  const widths = [...natural];
  const tooMany = widthOf(widths) - columnsMax;
  const least = columns.map((column) => (isFlexible(column) ? cellsMinOf(column) : Infinity));
  const excess = narrowed(widths, least, tooMany);
  narrowed(
    widths,
    columns.map((column) => (isText(column) ? textCellsMin : Infinity)),
    excess,
  );
  return widths;
}

/** Takes `excess` cells from the widest columns, down to `least` of each. Returns the rest. */
function narrowed(widths: number[], least: readonly number[], excess: number): number {
  for (let left = excess; left > 0; left -= 1) {
    const [widest] = widths
      .map((width, at) => ({ width, at }))
      .filter(({ width, at }) => width > (least[at] ?? Infinity))
      .toSorted((a, b) => b.width - a.width);
    if (widest === undefined) return left;
    widths[widest.at] = widest.width - 1;
  }
  return 0;
}
