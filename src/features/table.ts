import type { Io } from "../cli/io.ts";
import { printable } from "../cli/terminal/text.ts";

export type Paint = (text: string) => string;

/** SGR parameters (ECMA-48, section 8.3.117) that switch a style on and off. */
const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
} as const;

export type Style = keyof typeof codes;

/** The painters for standard output; without colours they return their text as it is. */
export function stylesOf({ env, isTerminal }: Io): Readonly<Record<Style, Paint>> {
  // NO_COLOR: see no-color.org.
  const isColored = isTerminal && !env["NO_COLOR"] && env["TERM"] !== "dumb";
  const painters = Object.entries(codes).map(([style, [on, off]]) => {
    const paint: Paint = (text) => (isColored ? `\u001B[${on}m${text}\u001B[${off}m` : text);
    return [style, paint] as const;
  });
  return Object.fromEntries(painters) as Record<Style, Paint>;
}

export interface Column {
  readonly title: string;
  /** Numbers stand at the right of their column. */
  readonly align?: "left" | "right";
  /** True when it may be cut short where the terminal is too narrow. */
  readonly flexible?: boolean;
  /** True when it is left out where cutting is not enough, the last one first. */
  readonly optional?: boolean;
}

type Cell = string | { readonly text: string; readonly paint: Paint };

export const right = (title: string): Column => ({ title, align: "right" });
export const flexible = (title: string): Column => ({ title, flexible: true });
export const optional = (title: string): Column => ({ title, optional: true });

const gap = "  ";
/** The fewest cells of a column that is cut: fewer say nothing. */
const flexibleCellsMin = 8;

interface Shown extends Column {
  readonly at: number;
  cells: number;
}

/**
 * Prints rows as aligned columns. On a terminal they fit its width as far as their columns let
 * them. Elsewhere nothing is cut or left out, because scripts read it.
 */
export function printTable(
  io: Io,
  header: readonly (string | Column)[],
  rows: readonly (readonly Cell[])[],
): void {
  const columns = header.map((column) => (typeof column === "string" ? { title: column } : column));
  const { bold } = stylesOf(io);
  const lines = [columns.map(({ title }) => ({ text: title, paint: bold })), ...rows].map((line) =>
    line.map((cell) =>
      typeof cell === "string"
        ? { text: printable(cell), paint: String }
        : { text: printable(cell.text), paint: cell.paint },
    ),
  );
  const natural = columns.map((column, at) => ({
    ...column,
    at,
    cells: Math.max(...lines.map((line) => Bun.stringWidth(line[at]?.text ?? ""))),
  }));
  const shown = io.isTerminal ? fitted(natural, io.columns) : natural;
  for (const line of lines) {
    const cells = shown.map(({ at, cells, align }) => {
      const { text = "", paint = String } = line[at] ?? {};
      const fits = cut(text, cells);
      return pad(fits, cells, align).replace(fits, () => paint(fits));
    });
    io.out(`${cells.join(gap).trimEnd()}\n`);
  }
}

/** The columns with the widths that fit into `cellsMax`, as far as that is possible. */
function fitted(columns: readonly Shown[], cellsMax: number): readonly Shown[] {
  const least = columns.map((column) => (isCut(column) ? flexibleCellsMin : column.cells));
  const extra = columns.findLastIndex(({ optional = false }) => optional);
  if (widthOf(least) > cellsMax && extra !== -1) {
    return fitted(columns.toSpliced(extra, 1), cellsMax);
  }
  const shown = columns.map((column) => ({ ...column }));
  for (let excess = widthOf(shown.map(({ cells }) => cells)) - cellsMax; excess > 0; excess -= 1) {
    const [widest] = shown.filter(isCut).toSorted((a, b) => b.cells - a.cells);
    if (widest === undefined) break;
    widest.cells -= 1;
  }
  return shown;
}

const isCut = ({ flexible = false, cells }: Shown) => flexible && cells > flexibleCellsMin;

const widthOf = (cells: readonly number[]) =>
  cells.reduce((sum, each) => sum + each, gap.length * (cells.length - 1));

/** `share` in whole percent, rounded down so that 100 % means all of it. */
export function percent(share: number): string {
  return `${Math.floor(Math.max(0, share) * 100)}%`;
}

/** Made for the first text that is cut: it takes 1.5 ms and 2 MiB, which no server needs. */
let graphemes: Intl.Segmenter | undefined;

/** The beginning of `text` that fits `width` cells, ending in `…` when something is missing. */
export function cut(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text;
  let shown = "";
  let cells = 0;
  graphemes ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  for (const { segment } of graphemes.segment(text)) {
    cells += Bun.stringWidth(segment);
    if (cells > width - 1) break;
    shown += segment;
  }
  return `${shown}…`;
}

/** `text` filled up with spaces to `width` cells, at its end or, for numbers, at its beginning. */
export function pad(text: string, width: number, align: "left" | "right" = "left"): string {
  const spaces = " ".repeat(Math.max(0, width - Bun.stringWidth(text)));
  return align === "left" ? text + spaces : spaces + text;
}
