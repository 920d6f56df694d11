/** What keys were used for in the last days, as a chart and as a table. */
import { html, type Html } from "../../docs/html.ts";
import { usageReport, type UsageReport } from "../../operate/usage/report.ts";
import { query, type Visit } from "../visit.ts";
import { notFoundPage, page } from "./page.ts";
import { keyName, notice, number, table } from "./parts.ts";

const shownDays = 30;

/** `GET /usage`: 30 days of all keys, or of the one in `?key=`. */
export async function usagePage(visit: Visit): Promise<Response> {
  const { words, services } = visit;
  const { keys, usage } = services;
  const all = await keys.list();
  const id = query(visit, "key");
  const one = all.find((key) => key.id === id);
  if (id !== "" && one === undefined) return notFoundPage(visit);
  const days = await usage.days(shownDays, one?.id);
  const report = usageReport(one === undefined ? all : [one], days, usage.today(), shownDays);
  const { requests, refusals, bans } = numbersOf(visit, report.totals);
  return page(visit, {
    title: one === undefined ? words.usage.title : words.usage.of(keyName(one)),
    section: "keys",
    back: one === undefined ? ["/keys", words.keys.back] : ["/usage", words.usage.back],
    body: html`${advice(visit, report)}
      <section class="card">
        <h2>${words.usage.perDay(shownDays)}</h2>
        <p>${words.usage.totals(requests, refusals, bans)}</p>
        ${barChart(visit, report.days, one?.limits.perDay)}
        <p class="legend">
          <span>${words.usage.requests}</span>
          <span class="key-more">${words.usage.refusals}</span>
        </p>
        <details class="as-table">
          <summary>${words.usage.asTable}</summary>
          ${dayTable(visit, report)}
        </details>
      </section>
      ${one === undefined && keyTable(visit, report)}`,
  });
}

function numbersOf(visit: Visit, { requests, refusals, bans }: UsageReport["totals"]) {
  const [first, second, third] = [requests, refusals, bans].map((each) => number(visit, each));
  return { requests: first ?? "", refusals: second ?? "", bans: third ?? "" };
}

/** The keys that are near their limits, and what would fit them. */
function advice(visit: Visit, { keys }: UsageReport): Html {
  const { usage, plans } = visit.words;
  return html`${keys.flatMap(({ name, advice: near }) =>
    near === null
      ? []
      : [notice("plain", usage.near(name, usage.windows[near.window], plans[near.plan]))],
  )}`;
}

function dayTable(visit: Visit, { days }: UsageReport): Html {
  const { usage } = visit.words;
  return table(
    [usage.day, usage.requests, usage.refusals, usage.bans],
    days.toReversed().map((each) => {
      const { requests, refusals, bans } = numbersOf(visit, each);
      return [each.day, requests, refusals, bans];
    }),
  );
}

function keyTable(visit: Visit, { keys }: UsageReport): Html {
  const { words } = visit;
  const { usage } = words;
  if (keys.length === 0) return html`<p class="soft">${words.keys.none}</p>`;
  return html`<section class="card">
    <h2>${usage.byKey}</h2>
    ${table(
      [
        words.fields.name,
        words.fields.plan,
        usage.requests,
        usage.refusals,
        usage.bans,
        usage.peak,
      ],
      keys.map((key) => {
        const { requests, refusals, bans } = numbersOf(visit, key);
        const link = html`<a href="/usage?key=${key.id}">${keyName(key)}</a>`;
        const peak = words.keys.of(number(visit, key.peakPerDay), number(visit, key.perDay));
        return [link, words.plans[key.plan], requests, refusals, bans, peak];
      }),
    )}
  </section>`;
}

const width = 720;
const height = 170;
const gap = 0.2;

/**
 * A bar for each day as SVG, drawn here: no script and no inline style. A limit is a dashed line,
 * drawn where it is in reach of the bars. Words stand outside the picture, which is scaled to fit
 * the screen. The same numbers are below it as a table.
 */
function barChart(visit: Visit, days: UsageReport["days"], limit: number | undefined): Html {
  const highest = Math.max(1, ...days.map(({ requests, refusals }) => requests + refusals));
  const isNear = limit !== undefined && limit <= highest * 3;
  const top = isNear ? Math.max(highest, limit) : highest;
  const scale = (value: number) => (height * value) / top;
  const step = width / Math.max(1, days.length);
  const drawn = days.map(({ day, requests, refusals }, at) => {
    const x = (at * step + (step * gap) / 2).toFixed(1);
    const w = (step * (1 - gap)).toFixed(1);
    const [low, high] = [scale(requests), scale(refusals)];
    const part = (name: string, y: number, tall: number) =>
      html`<rect
        class="${name}"
        x="${x}"
        width="${w}"
        y="${y.toFixed(1)}"
        height="${tall.toFixed(1)}"
        rx="2"
      />`;
    const numbers = numbersOf(visit, { requests, refusals, bans: 0 });
    return html`<g>
      <title>${day}: ${numbers.requests}${refusals > 0 && html` + ${numbers.refusals}`}</title>
      ${part("bar", height - low, low)} ${part("bar more", height - low - high, high)}
    </g>`;
  });
  const line = (name: string, y: number) =>
    html`<line class="${name}" x1="0" x2="${width}" y1="${y.toFixed(1)}" y2="${y.toFixed(1)}" />`;
  return html`<div class="chart">
    <span aria-hidden="true">${number(visit, top)}</span>
    <svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${visit.words.usage.chart}">
      ${line("base", 0)} ${line("base", height)} ${drawn}
      ${isNear && line("limit", height - scale(limit))}
    </svg>
    <p class="ends" aria-hidden="true">
      <span>${days[0]?.day ?? ""}</span><span>${days.at(-1)?.day ?? ""}</span>
    </p>
  </div>`;
}
