import { html, type Html } from "../../docs/html.ts";
import { number } from "./parts.ts";
import type { Arrival } from "../web/visit.ts";

interface Bar {
  readonly label: string;
  readonly value: number;
  /** A second part on top of the first, such as refusals. */
  readonly more: number;
}

const width = 720;
const height = 170;
const gap = 0.2;

/**
 * Bars as SVG, drawn here: no script and no inline style. A limit is a dashed line, drawn where it
 * is in reach of the bars. Words stand outside the picture, which is scaled to fit the screen. The
 * same numbers are next to it as a table.
 */
export function barChart(
  visit: Arrival,
  { title, bars, limit }: { title: string; bars: readonly Bar[]; limit?: number | undefined },
): Html {
  const highest = Math.max(1, ...bars.map(({ value, more }) => value + more));
  const isNear = limit !== undefined && limit <= highest * 3;
  const top = isNear ? Math.max(highest, limit) : highest;
  const scale = (value: number) => (height * value) / top;
  const step = width / Math.max(1, bars.length);
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
      ${part("bar", height - low, low)} ${part("bar more", height - low - high, high)}
    </g>`;
  });
  const limitY = (height - scale(limit ?? 0)).toFixed(1);
  return html`<div class="chart">
    <span aria-hidden="true">${number(visit, top)}</span>
    <svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">
      <line class="base" x1="0" x2="${width}" y1="0" y2="0" />
      <line class="base" x1="0" x2="${width}" y1="${height}" y2="${height}" />
      ${drawn}
      ${isNear && html`<line class="limit" x1="0" x2="${width}" y1="${limitY}" y2="${limitY}" />`}
    </svg>
    <p class="ends" aria-hidden="true">
      <span>${bars[0]?.label ?? ""}</span><span>${bars.at(-1)?.label ?? ""}</span>
    </p>
  </div>`;
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
