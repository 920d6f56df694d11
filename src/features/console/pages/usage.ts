/** What keys were used for in the last days. */
import { html, type Html } from "../../docs/html.ts";
import { usageReport, type UsageReport } from "../../operate/usage/report.ts";
import { planTitles } from "../../plan-titles.ts";
import { query, type Visit } from "../visit.ts";
import { notFoundPage, page } from "./page.ts";
import { bar, card, facts, keyName, notice, number, table } from "./parts.ts";

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
  const totals = facts([
    [words.usage.requests, requests],
    [words.usage.refusals, refusals],
    [words.usage.bans, bans],
  ]);
  const days30 = dayTable(visit, report, one?.limits.perDay);
  return page(visit, {
    title: one === undefined ? words.usage.title : words.usage.of(keyName(one)),
    section: "keys",
    back: one === undefined ? ["/keys", words.keys.back] : ["/usage", words.usage.title],
    body: html`${advice(visit, report)}
    ${card(words.usage.perDay(shownDays), html`${totals} ${days30}`)}
    ${one === undefined && keyTable(visit, report)}`,
  });
}

function numbersOf(visit: Visit, { requests, refusals, bans }: UsageReport["totals"]) {
  const [first, second, third] = [requests, refusals, bans].map((each) => number(visit, each));
  return { requests: first ?? "", refusals: second ?? "", bans: third ?? "" };
}

/** The keys that are near their limits, and what would fit them. */
function advice(visit: Visit, { keys }: UsageReport): Html {
  const { usage } = visit.words;
  return html`${keys.flatMap(({ name, advice: near }) =>
    near === null
      ? []
      : [notice("plain", usage.near(name, usage.windows[near.window], planTitles[near.plan]))],
  )}`;
}

/** A bar for each day, beside its numbers: a part of the key's limit, or of the highest day. */
function dayTable(visit: Visit, { days }: UsageReport, limit: number | undefined): Html {
  const { usage } = visit.words;
  const top = limit ?? Math.max(1, ...days.map(({ requests }) => requests));
  return table(
    [usage.day, usage.requests, usage.refusals, usage.bans],
    days.toReversed().map((each) => {
      const { requests, refusals, bans } = numbersOf(visit, each);
      const share = bar(each.requests / top, limit === undefined ? 1 : 0.8);
      const use = html`<span class="use soft">${requests} ${share}</span>`;
      return [html`<time>${each.day}</time>`, use, refusals, bans];
    }),
  );
}

function keyTable(visit: Visit, { keys }: UsageReport): Html {
  const { words } = visit;
  const { usage } = words;
  if (keys.length === 0) return html`<p class="soft">${words.keys.none}</p>`;
  const { name, plan } = words.fields;
  return card(
    usage.byKey,
    table(
      [name, plan, usage.requests, usage.refusals, usage.bans, usage.peak],
      keys.map((key) => {
        const { requests, refusals, bans } = numbersOf(visit, key);
        const link = html`<a href="/usage?key=${key.id}">${keyName(key)}</a>`;
        const peak = words.keys.of(number(visit, key.peakPerDay), number(visit, key.perDay));
        return [link, planTitles[key.plan], requests, refusals, bans, peak];
      }),
    ),
  );
}
