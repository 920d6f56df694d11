/** Records and checks one history after another. */
import { writeFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { join } from "node:path";
import { check } from "./check.ts";
import type { History, StoreKind } from "./history.ts";
import { Place } from "./place.ts";
import { makeKeys, record } from "./record.ts";
import { scheduleOf, type Schedule } from "./schedule.ts";

export interface RunOptions {
  readonly store: StoreKind;
  readonly runs: number;
  /** Of the first history; each next one has the next number. */
  readonly seed: number;
  readonly executable: string;
  /** True to end at the first history that nothing explains. */
  readonly first?: boolean;
  /** The folder for histories that nothing explains. */
  readonly keep: string;
  readonly say: (line: string) => void;
}

export interface RunReport {
  readonly store: StoreKind;
  histories: number;
  calls: number;
  violations: number;
  readonly firstSeed: number;
  recordMs: number;
  checkMs: number;
}

/** Histories on one store: its animals stay, and the next history begins with them. */
const historiesAStore = 25;

export async function runHistories(options: RunOptions): Promise<RunReport> {
  const { store, runs, seed, executable, keep, first = false, say } = options;
  const counts = { histories: 0, calls: 0, violations: 0, recordMs: 0, checkMs: 0 };
  const report: RunReport = { store, firstSeed: seed, ...counts };
  const isOver = () => report.histories === runs || (first && report.violations > 0);
  while (!isOver()) {
    await using place = await Place.open(store, executable);
    for (let left = historiesAStore; left > 0 && !isOver(); left -= 1) {
      const schedule = scheduleOf(seed + report.histories, store);
      const beganMs = performance.now();
      const history = await recordIn(place, schedule);
      const recordedMs = performance.now();
      const { violation, catalogues } = check(history, place.catalogues);
      report.recordMs += recordedMs - beganMs;
      report.checkMs += performance.now() - recordedMs;
      report.histories += 1;
      report.calls += history.calls.length;
      if (violation !== undefined) {
        report.violations += 1;
        const file = join(keep, `rehome-${store}-${schedule.seed}.txt`);
        writeFileSync(file, Bun.inspect(violation, { depth: 8 }));
        say(`${store}, seed ${schedule.seed} (${schedule.theme}): unexplained, see ${file}`);
      }
      place.catalogues = catalogues;
      if (violation !== undefined || isUncertain(history)) break;
    }
  }
  return report;
}

const seconds = (ms: number) => `${Math.round(ms / 1_000)} s`;

/** What ran, where and for how long, as a table for a page. */
export function summaryOf(reports: readonly RunReport[]): string {
  const rows = reports.map((each) =>
    [
      each.store,
      each.histories,
      each.calls,
      each.violations,
      `${each.firstSeed} to ${each.firstSeed + each.histories - 1}`,
      seconds(each.recordMs),
      seconds(each.checkMs),
    ].join(" | "),
  );
  const [processor] = cpus();
  const load = loadavg()[0]?.toFixed(1);
  const memory = Math.round(totalmem() / 2 ** 30);
  return [
    `${cpus().length} cores (${processor?.model}), ${memory} GiB, load ${load} at the end:`,
    "",
    "| Store | Histories | Calls | Violations | Seeds | Recorded in | Checked in |",
    "| --- | ---: | ---: | ---: | --- | ---: | ---: |",
    ...rows.map((row) => `| ${row} |`),
  ].join("\n");
}

async function recordIn(place: Place, schedule: Schedule): Promise<History> {
  const prefix = `h${schedule.seed}`;
  try {
    const keys = await makeKeys(place, schedule, prefix);
    return await record(place, schedule, keys, prefix);
  } catch (error) {
    throw new Error(`${schedule.store}, seed ${schedule.seed}: ${String(error)}`, { cause: error });
  }
}

/** Something of it may still happen when it is over. */
function isUncertain({ calls }: History): boolean {
  return calls.some(({ returnMs }) => returnMs === Infinity);
}
