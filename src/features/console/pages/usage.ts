import { html, type Html } from "../../docs/html.ts";
import { usageReport, type UsageReport } from "../../operate/usage/report.ts";
import { query, type Visit } from "../web/visit.ts";
import { asTable, barChart, table } from "./chart.ts";
import { notFoundPage } from "./failures.ts";
import { consolePage } from "./layout.ts";
import { keyName, notice, number } from "./parts.ts";

const shownDays = 30;

/** `GET /usage`: 30 days of all keys, or of the one in `?key=`. */
export async function usagePage(visit: Visit): Promise<Response> {
  const { words, desk } = visit;
  const { keys, usage } = desk.services;
  const all = await keys.list();
  const id = query(visit, "key");
  const one = all.find((key) => key.id === id);
  if (id !== "" && one === undefined) return notFoundPage(visit);
  const days = await usage.days(shownDays, one?.id);
  const report = usageReport(one === undefined ? all : [one], days, usage.today(), shownDays);
  const title = one === undefined ? words.sections.usage : words.usage.of(keyName(one));
  return consolePage(visit, {
    title,
    section: "usage",
    body: html`${
        one !== undefined && html`<p class="trail"><a href="/usage">${words.usage.back}</a></p>`
      }
      <h1>${title}</h1>
      ${advice(visit, report)}
      <section class="card">
        <h2>${words.usage.perDay(shownDays)}</h2>
        <p>${totals(visit, report)}</p>
        ${barChart(visit, {
          title: words.usage.chart,
          limit: one?.limits.perDay,
          bars: report.days.map(({ day, requests, refusals }) => ({
            label: day,
            value: requests,
            more: refusals,
          })),
        })}
        <p class="legend">
          <span>${words.usage.requests}</span>
          <span class="key-more">${words.usage.refusals}</span>
        </p>
        ${asTable(
          words.usage.asTable,
          [words.usage.day, words.usage.requests, words.usage.refusals, words.usage.bans],
          report.days
            .toReversed()
            .map(({ day, requests, refusals, bans }) => [
              day,
              number(visit, requests),
              number(visit, refusals),
              number(visit, bans),
            ]),
        )}
      </section>
      ${one === undefined && keyTable(visit, report)}`,
  });
}

function totals(visit: Visit, { totals: { requests, refusals, bans } }: UsageReport): string {
  return visit.words.usage.totals(
    number(visit, requests),
    number(visit, refusals),
    number(visit, bans),
  );
}

/** The keys that are near their limits, and what would fit them. */
function advice(visit: Visit, { keys }: UsageReport): Html {
  const { words } = visit;
  return html`${keys.flatMap(({ name, advice: near }) =>
    near === null
      ? []
      : [
          notice(
            "plain",
            html`<p>
              ${words.usage.near(name, words.usage.windows[near.window], words.plans[near.plan])}
            </p>`,
          ),
        ],
  )}`;
}

function keyTable(visit: Visit, { keys }: UsageReport): Html {
  const { words } = visit;
  if (keys.length === 0) return html`<p class="soft">${words.keys.none}</p>`;
  return html`<section class="card">
    <h2>${words.usage.byKey}</h2>
    ${table(
      [
        words.fields.name,
        words.fields.plan,
        words.usage.requests,
        words.usage.refusals,
        words.usage.bans,
        words.usage.peak,
      ],
      keys.map((key) => [
        html`<a href="/usage?key=${key.id}">${keyName(key)}</a>`,
        words.plans[key.plan],
        number(visit, key.requests),
        number(visit, key.refusals),
        number(visit, key.bans),
        words.keys.of(number(visit, key.peakPerDay), number(visit, key.perDay)),
      ]),
    )}
  </section>`;
}
