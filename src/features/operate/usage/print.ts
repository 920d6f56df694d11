import type { ApiKey } from "../../../domain/api-key.ts";
import { nearLimitShare, publishedLimits } from "../../../domain/plan.ts";
import type { Io } from "../../../cli/io.ts";
import { plotLines } from "./plot.ts";
import { percent, counted, grouped, printable } from "../../../cli/terminal/text.ts";
import { stylesOf } from "../../../cli/terminal/style.ts";
import { printTable } from "../../../cli/terminal/table.ts";
import type { UsageReport } from "./json.ts";

/** Cells that the plot takes where no terminal says how many there are. */
const plotCellsMax = 100;

/**
 * Prints the report for a person: plot, totals, keys, and who should have another plan. Where there
 * is no key, `makeKey` is the command that makes one.
 */
export function printUsage(
  io: Io,
  report: UsageReport,
  key: ApiKey | undefined,
  makeKey: string,
): void {
  const { bold } = stylesOf(io);
  const whose = key === undefined ? counted(report.keys.length, "key") : keyName(key);
  io.out(`${bold(`Requests per day, ${report.from} to ${report.to}, ${whose}`)}\n\n`);
  printPlot(io, report, key?.limits.perDay);
  if (report.keys.length === 0) io.err(`There is no key: ${makeKey}\n`);
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

function printPlot(io: Io, report: UsageReport, limit: number | undefined): void {
  const { days, from, to } = report;
  if (days.every(({ requests, refusals }) => requests + refusals === 0)) {
    io.out("No requests in these days.\n");
    return;
  }
  const { green, yellow, red } = stylesOf(io);
  const paint = (cell: string, value: number) => {
    if (limit === undefined || value < limit * nearLimitShare) return green(cell);
    return value < limit ? yellow(cell) : red(cell);
  };
  const width = Math.min(io.columns, plotCellsMax);
  const { lines, perColumn } = plotLines(
    {
      values: days.map(({ requests }) => requests),
      from,
      to,
      ...(limit === undefined ? {} : { limit }),
      marks: [
        days.map(({ refusals }) => (refusals > 0 ? "!" : " ")),
        days.map(({ bans }) => (bans > 0 ? "B" : " ")),
      ],
      paint,
    },
    width,
  );
  for (const line of lines) io.out(`${line}\n`);
  if (perColumn > 1) io.out(`Each column is the highest of ${perColumn} days.\n`);
}

function printKeys(io: Io, { keys }: UsageReport): void {
  const used = keys.filter(({ requests, refusals }) => requests + refusals > 0);
  if (used.length === 0) return;
  io.out("\n");
  printTable(
    io,
    [
      { title: "ID", whole: true },
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
      : `${plan} would fit (${grouped(publishedLimits[plan].perMinute)}/min, ${grouped(publishedLimits[plan].perDay)}/day)`;
  const command =
    plan === "enterprise"
      ? `rehome keys update ${key.id} --plan enterprise --per-minute N --per-day N`
      : `rehome keys update ${key.id} --plan ${plan}`;
  return ["", `${keyName(key)}, plan ${key.plan}, ${why}.`, `  ${offer}: ${command}`];
}
