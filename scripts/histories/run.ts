/** Records and checks one history after another. */
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { join } from "node:path";
import { deserialize, serialize } from "node:v8";
import type { Catalogue } from "./catalogue.ts";
import { check } from "./check.ts";
import type { History, StoreKind } from "./history.ts";
import { linesOf } from "./print.ts";
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
  readonly keep?: string | undefined;
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

/** The place that goes on with the next history, until enough of them were on it. */
class Places {
  readonly #options: RunOptions;
  #open: { readonly place: Place; left: number } | undefined;

  constructor(options: RunOptions) {
    this.#options = options;
  }

  async next(): Promise<Place> {
    if (this.#open !== undefined && this.#open.left > 0) {
      this.#open.left -= 1;
      return this.#open.place;
    }
    await this.leave();
    const { store: kind, executable } = this.#options;
    const place = await Place.open({ kind, executable });
    this.#open = { place, left: historiesAStore - 1 };
    return place;
  }

  async leave(): Promise<void> {
    await this.#open?.place[Symbol.asyncDispose]();
    this.#open = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave();
  }
}

export async function runHistories(options: RunOptions): Promise<RunReport> {
  const { store, runs, seed, keep, first = false, say } = options;
  await using places = new Places(options);
  const counts = { histories: 0, calls: 0, violations: 0, recordMs: 0, checkMs: 0 };
  const report: RunReport = { store, firstSeed: seed, ...counts };
  for (let run = 0; run < runs; run += 1) {
    if (first && report.violations > 0) break;
    const schedule = scheduleOf({ seed: seed + run, store });
    const place = await places.next();
    const beganMs = performance.now();
    const history = await recordIn(place, schedule);
    const recordedMs = performance.now();
    report.recordMs += recordedMs - beganMs;
    const checked = check(history, place.catalogues);
    report.checkMs += performance.now() - recordedMs;
    report.histories += 1;
    report.calls += history.calls.length;
    if (checked.violation === undefined) {
      place.catalogues = checked.catalogues;
      if (isUncertain(history)) await places.leave();
    } else {
      report.violations += 1;
      if (keep !== undefined)
        writeFileSync(
          join(keep, `${store}-${schedule.seed}`),
          serialize({ history, before: place.catalogues }),
        );
      say(
        `${store}, seed ${schedule.seed} (${schedule.theme}): ${linesOf(checked.violation).join("\n")}`,
      );
      await places.leave();
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

interface Kept {
  readonly history: History;
  readonly before: readonly Catalogue[];
}

/** Checks a history that was kept once more. Returns true if it is explained now. */
export function checkKept(file: string, say: (line: string) => void): boolean {
  const { history, before } = deserialize(readFileSync(file)) as Kept;
  const { violation } = check(history, before);
  say(violation === undefined ? `${file}: explained` : linesOf(violation).join("\n"));
  return violation === undefined;
}
