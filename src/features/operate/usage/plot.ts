import { grouped, pad } from "../../../cli/terminal/text.ts";

const heights = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] as const;
const eighths = heights.length - 1;
const rows = 8;

export interface Plot {
  /** One number for each step of time, oldest first; none below 0. */
  readonly values: readonly number[];
  /** What stands below the first and the last column. */
  readonly from: string;
  readonly to: string;
  /** A level to be drawn across, where the values come near it. */
  readonly limit?: number;
  /** Rows of single marks below the columns, one mark or a blank for each value. */
  readonly marks?: readonly (readonly string[])[];
  /** How a column's cells are painted, by the value that it shows. */
  readonly paint: (cell: string, value: number) => string;
}

/** How many values a column shows, and how many cells it has with the gap behind it. */
interface Layout {
  readonly perColumn: number;
  readonly cells: number;
  readonly gap: number;
}

/** Fits `count` values into `width` cells: columns up to three wide, or of several values. */
function layoutOf(count: number, width: number): Layout {
  const perColumn = Math.ceil(count / width);
  const columns = Math.ceil(count / perColumn);
  const pitch = Math.max(1, Math.min(4, Math.floor(width / columns)));
  const gap = pitch > 1 ? 1 : 0;
  return { perColumn, cells: pitch - gap, gap };
}

/** The smallest of 1, 2, 4, 6, 8 and 10 times a power of ten that is not below `value`. */
export function scaleTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  const step = [1, 2, 4, 6, 8, 10].find((each) => each * power >= value) ?? 10;
  return step * power;
}

interface Drawn {
  readonly lines: readonly string[];
  /** How many values a column stands for: it shows the highest of them. */
  readonly perColumn: number;
}

/** The plot as lines of at most `width` cells: columns over a scale, their time below. */
export function plotLines(plot: Plot, width: number): Drawn {
  const highest = Math.max(0, ...plot.values);
  const { limit } = plot;
  const isLimitNear = limit !== undefined && highest * 2 >= limit;
  const top = scaleTop(isLimitNear ? Math.max(highest, limit) : highest);
  const limitRow = isLimitNear ? Math.min(rows - 1, Math.floor((limit / top) * rows)) : undefined;
  const labels = new Map<number, string>([[rows - 1, grouped(top)]]);
  if (top > 1) labels.set(rows / 2 - 1, grouped(top / 2));
  if (limitRow !== undefined && limit !== undefined)
    labels.set(limitRow, `limit ${grouped(limit)}`);
  const labelCells = Math.max(...[...labels.values()].map((label) => label.length));
  const layout = layoutOf(plot.values.length, Math.max(1, width - labelCells - 2));
  const columns = chunks(plot.values, layout.perColumn).map((chunk) => Math.max(...chunk));
  const lines: string[] = [];
  for (let row = rows - 1; row >= 0; row -= 1) {
    const cells = columns.map((value) => {
      const filled = Math.round((value / top) * rows * eighths) - row * eighths;
      // A day with anything at all shows something.
      const least = row === 0 && value > 0 ? 1 : 0;
      const height = Math.min(eighths, Math.max(least, filled));
      const mark = height === 0 && row === limitRow ? "╌" : (heights[height] ?? " ");
      const text = mark.repeat(layout.cells);
      return (height === 0 ? text : plot.paint(text, value)) + " ".repeat(layout.gap);
    });
    lines.push(`${pad(labels.get(row) ?? "", labelCells, "right")} ┤${cells.join("")}`.trimEnd());
  }
  const drawn = columns.length * (layout.cells + layout.gap);
  lines.push(`${pad("0", labelCells, "right")} └${"─".repeat(drawn)}`);
  for (const marks of plot.marks ?? []) lines.push(markLine(marks, layout, labelCells));
  lines.push(timeLine(plot, drawn, labelCells));
  return { lines: lines.filter((line) => line.trim() !== ""), perColumn: layout.perColumn };
}

function markLine(marks: readonly string[], layout: Layout, labelCells: number): string {
  const shown = chunks(marks, layout.perColumn).map((chunk) =>
    pad(chunk.find((mark) => mark !== " ") ?? " ", layout.cells + layout.gap),
  );
  return `${" ".repeat(labelCells + 2)}${shown.join("")}`.trimEnd();
}

function timeLine({ from, to }: Plot, drawn: number, labelCells: number): string {
  const gap = drawn - from.length - to.length;
  const text = gap < 1 ? `${from} - ${to}` : from + " ".repeat(gap) + to;
  return " ".repeat(labelCells + 2) + text;
}

function chunks<T>(values: readonly T[], size: number): T[][] {
  const count = Math.ceil(values.length / size);
  return Array.from({ length: count }, (_, at) => values.slice(at * size, (at + 1) * size));
}
