import { html, type Html } from "../../../web/html.ts";
import { keyService } from "../../keys/service.ts";
import { UsageService } from "../../keys/usage.ts";
import { usageReport, type UsageReport } from "../../keys/usage-report.ts";
import { planTitles } from "../../plan-titles.ts";
import { query, type Visit } from "../visit.ts";
import { orNotFound, page } from "./page.ts";
import { bar, card, facts, keyName, notice, number, table } from "./parts.ts";

const shownDays = 30;
const counts = ["requests", "refusals", "bans"] as const;

/** `GET /usage`: 30 days of all keys, or of the one in `?key=`. */
export async function usagePage(visit: Visit): Promise<Response> {
  const { words, services } = visit;
  const usage = new UsageService(services);
  const all = await keyService(services).list();
  const id = query(visit, "key");
  const one = id === "" ? undefined : orNotFound(all.find((key) => key.id === id));
  const days = await usage.days(shownDays, one?.id);
  const report = usageReport(one === undefined ? all : [one], days, usage.today(), shownDays);
  const totals = facts(
    counts.map((each) => [words.usage[each], number(visit, report.totals[each])]),
  );
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
    [usage.day, ...counts.map((each) => usage[each])],
    days.toReversed().map((each) => {
      const share = bar(each.requests / top, limit === undefined ? 1 : 0.8);
      const use = html`<span class="use soft">${number(visit, each.requests)} ${share}</span>`;
      const [refusals, bans] = [number(visit, each.refusals), number(visit, each.bans)];
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
      [name, plan, ...counts.map((each) => usage[each]), usage.peak],
      keys.map((key) => {
        const numbers = counts.map((each) => number(visit, key[each]));
        const link = html`<a href="/usage?key=${key.id}">${keyName(key)}</a>`;
        const peak = words.keys.of(number(visit, key.peakPerDay), number(visit, key.perDay));
        return [link, planTitles[key.plan], ...numbers, peak];
      }),
    ),
  );
}
