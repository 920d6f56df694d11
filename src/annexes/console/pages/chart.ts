import { html, type Html } from "../../page/html.ts";
import { number } from "./parts.ts";
import type { Arrival } from "../web/visit.ts";

interface Bar {
  readonly label: string;
  readonly value: number;
  /** A second part on top of the first, such as refusals. */
  readonly more: number;
}

const width = 720;
const height = 212;
const foot = 22;
/** Room above the bars for the number that the highest one reaches. */
const head = 20;
const gap = 0.2;

/**
 * Bars as SVG, drawn here: no script and no inline style. A limit is a dashed line, drawn where it
 * is in reach of the bars. The same numbers are next to it as a table.
 */
export function barChart(
  visit: Arrival,
  { title, bars, limit }: { title: string; bars: readonly Bar[]; limit?: number | undefined },
): Html {
  const highest = Math.max(1, ...bars.map(({ value, more }) => value + more));
  const isNear = limit !== undefined && limit <= highest * 3;
  const top = isNear ? Math.max(highest, limit) : highest;
  const scale = (value: number) => ((height - foot - head) * value) / top;
  const step = width / Math.max(1, bars.length);
  const base = height - foot;
  const drawn = bars.map(({ value, more, label }, at) => {
    const x = (at * step + (step * gap) / 2).toFixed(1);
    const w = (step * (1 - gap)).toFixed(1);
    const [low, high] = [scale(value), scale(more)];
    const part = (name: string, y: number, tall: number) =>
      html`<rect
        class="${name}"
        x="${x}"
        width="${w}"
        y="${y.toFixed(1)}"
        height="${tall.toFixed(1)}"
        rx="2"
      />`;
    return html`<g>
      <title>${label}: ${number(visit, value)}${more > 0 && html` + ${number(visit, more)}`}</title>
      ${part("bar", base - low, low)} ${part("bar more", base - low - high, high)}
    </g>`;
  });
  return html`<svg class="chart" viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">
    <line class="base" x1="0" x2="${width}" y1="${head}" y2="${head}" />
    <text x="0" y="${head - 6}">${number(visit, top)}</text>
    <line class="base" x1="0" x2="${width}" y1="${base}" y2="${base}" />
    ${drawn}
    ${
      isNear &&
      html`<line
        class="limit"
        x1="0"
        x2="${width}"
        y1="${(base - scale(limit)).toFixed(1)}"
        y2="${(base - scale(limit)).toFixed(1)}"
      />`
    }
    <text x="0" y="${height - 4}">${bars[0]?.label ?? ""}</text>
    <text x="${width}" y="${height - 4}" text-anchor="end">${bars.at(-1)?.label ?? ""}</text>
  </svg>`;
}

/** The numbers of a chart as a table, for those who read rather than see. */
export function asTable(
  title: string,
  heads: readonly string[],
  rows: readonly (readonly (string | Html)[])[],
): Html {
  return html`<details class="as-table">
    <summary>${title}</summary>
    ${table(heads, rows)}
  </details>`;
}

/** A table that scrolls by itself where it is too wide. */
export function table(
  heads: readonly string[],
  rows: readonly (readonly (string | Html)[])[],
): Html {
  return html`<div class="table" tabindex="0">
    <table>
      <thead>
        <tr>
          ${heads.map((head) => html`<th scope="col">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${cells.map((cell) => html`<td>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
