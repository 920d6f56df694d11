import { Argument, type Command, Option } from "commander";
import { printJson } from "../../json.ts";
import { type Io } from "../../../cli/io.ts";
import { wholeNumber } from "../../options.ts";
import { commandHere, toMakeKey } from "../../../cli/command.ts";
import { storeCommand } from "../../command.ts";
import { useBar } from "../../keys/fields.ts";
import { stylesOf, printTable } from "../../table.ts";
import { counted, grouped, limitsText, printable } from "../../../cli/terminal/text.ts";
import { percent } from "../../table.ts";
import type { ApiKey } from "../../../domain/api-key.ts";
import { publishedLimits } from "../../../domain/plan.ts";
import { usageStoredDays } from "../../../domain/windows.ts";
import { usageReport, usageSchema, type UsageReport } from "./report.ts";

const defaultDays = 30;
const barCells = 20;

export function usageCommand(io: Io): Command {
  return storeCommand<{ readonly days: number }, [string | undefined]>(
    io,
    {
      name: "usage",
      about: "show requests, refusals and bans day by day, of one key or of all",
      arguments: [new Argument("[key]", "id, the beginning of one, or label; all keys without it")],
      options: [
        new Option("--days <N>", `how many days, from 1 to ${usageStoredDays}`)
          .default(defaultDays)
          .argParser(wholeNumber(usageStoredDays)),
      ],
      remark: `Days are UTC days, today included; earlier days are kept for ${usageStoredDays} days. A bar is
the share of the key's daily limit; without a key, of the highest day.`,
      examples: [
        "rehome usage",
        "rehome usage website --days 90",
        "rehome usage --json | jq '.keys[] | select(.advice)'",
      ],
      json: usageSchema,
    },
    async ({ keys, usage }, { loaded, json, days: count }, reference) => {
      const one = reference === undefined ? undefined : await keys.resolve(reference);
      const shown = one === undefined ? await keys.list() : [one];
      const days = await usage.days(count, one?.id);
      const report = usageReport(shown, days, usage.today(), count);
      if (json) return printJson(io, report);
      if (shown.length === 0) io.err(`There is no key: ${commandHere(toMakeKey, loaded, io)}\n`);
      return printUsage(io, report, one);
    },
  );
}

/** Prints the report for a person: days, totals, keys, and who should have another plan. */
function printUsage(io: Io, report: UsageReport, key: ApiKey | undefined): void {
  const whose = key === undefined ? counted(report.keys.length, "key") : keyName(key);
  io.out(`${stylesOf(io).bold(`Requests per day, ${report.from} to ${report.to}, ${whose}`)}\n\n`);
  printDays(io, report, key?.limits.perDay);
  const { requests, refusals, bans } = report.totals;
  io.out(
    `\nTotal ${counted(requests, "request")}, ${counted(refusals, "refusal")}, ${counted(bans, "ban")}; ` +
      `${grouped(Math.round(requests / report.days.length))} requests a day on average.\n`,
  );
  if (key === undefined) printKeys(io, report);
  for (const line of report.keys.flatMap(adviceLines)) io.out(`${line}\n`);
}

function keyName({ id, name }: { id: string; name: string }): string {
  return `${id} "${printable(name)}"`;
}

function printDays(io: Io, { days }: UsageReport, limit: number | undefined): void {
  const first = days.findIndex(({ requests, refusals }) => requests + refusals > 0);
  if (first === -1) return io.out("No requests in these days.\n");
  const styles = stylesOf(io);
  const top = limit ?? Math.max(...days.map(({ requests }) => requests), 1);
  printTable(
    io,
    [
      "DAY",
      limit === undefined ? "OF THE HIGHEST DAY" : `OF ${grouped(limit)} A DAY`,
      { title: "REQUESTS", align: "right" },
      { title: "REFUSALS", align: "right" },
      { title: "BANS", align: "right" },
    ],
    days.slice(first).map(({ day, requests, refusals, bans }) => {
      const bar = useBar(requests, top, barCells, styles);
      // The highest of all days is no limit.
      const shown = limit === undefined ? { ...bar, paint: styles.green } : bar;
      return [day, shown, grouped(requests), orBlank(refusals), orBlank(bans)];
    }),
  );
}

const orBlank = (count: number) => (count === 0 ? "" : grouped(count));

function printKeys(io: Io, { keys }: UsageReport): void {
  const used = keys.filter(({ requests, refusals }) => requests + refusals > 0);
  if (used.length === 0) return;
  io.out("\n");
  printTable(
    io,
    [
      "ID",
      { title: "LABEL", flexible: true },
      { title: "PLAN", optional: true },
      { title: "REQUESTS", align: "right" },
      { title: "REFUSALS", align: "right", optional: true },
      { title: "BANS", align: "right", optional: true },
      { title: "HIGHEST DAY", align: "right" },
    ],
    used.map(({ id, name, plan, requests, refusals, bans, peakPerDay, perDay }) => [
      id,
      name,
      plan,
      grouped(requests),
      grouped(refusals),
      grouped(bans),
      `${grouped(peakPerDay)} (${percent(peakPerDay / perDay)})`,
    ]),
  );
}

/** What to offer to the holder of a key that is near its limits. */
function adviceLines(key: UsageReport["keys"][number]): string[] {
  if (key.advice === null) return [];
  const { window, plan } = key.advice;
  const why =
    window === "day"
      ? `used ${percent(key.peakPerDay / key.perDay)} of its day (${grouped(key.peakPerDay)} of ${grouped(key.perDay)})`
      : `was refused ${grouped(key.refusals)} times, although no day was used up: its limit per minute is too low`;
  const offer =
    plan === "enterprise"
      ? "enterprise with custom limits would fit"
      : `${plan} would fit (${limitsText(publishedLimits[plan])})`;
  const limits = plan === "enterprise" ? " --per-minute N --per-day N" : "";
  return [
    "",
    `${keyName(key)}, plan ${key.plan}, ${why}.`,
    `  ${offer}: rehome keys update ${key.id} --plan ${plan}${limits}`,
  ];
}
