/** What the doctor finds of what the service does by itself: followed lists and backups. */
import type { Io } from "../../../cli/io.ts";
import { counted } from "../../../cli/terminal/text.ts";
import type { LoadedConfig } from "../../../config.ts";
import { dayMs, isoSeconds } from "../../../domain/clock.ts";
import { type AppError, shellWord } from "../../../domain/errors.ts";
import { backoffMs, type Job, lateness, readJob, timesInARow } from "../../schedule/jobs.ts";
import type { Tables } from "../../../storage/database.ts";
import { storeFiles } from "../../../storage/sqlite/files.ts";
import { examine } from "../examine-catalogue.ts";
import { lastBackup } from "../backup/keep.ts";
import { locate } from "../backup/find.ts";
import { backupSettings } from "../settings.ts";
import { bytesText, failWith, type Finding, ok, warn } from "./finding.ts";

/** A row of the schedule, read without opening the store; `sinceMs` is its success or its start. */
export type JobRow = ReturnType<typeof jobRows>[number];

type Row = Tables["schedule"]["$inferSelect"];
type Told = "kind" | "target" | "everyMs" | "failures" | "problem" | "paused";
export const jobRows = (rows: readonly unknown[]) =>
  (rows as readonly (Pick<Row, Told> & { readonly sinceMs: number })[]).map(readJob);

/** Reads the schedule on either kind of database, as rows for `jobRows`. */
export const jobsSql = (schema: string): string => `SELECT kind, target, failures, problem, paused,
  CAST(every_ms AS double precision) AS "everyMs",
  CAST(coalesce(succeeded_at_ms, added.created_at_ms, next_at_ms) AS double precision) AS "sinceMs"
  FROM ${schema}schedule LEFT JOIN ${schema}sources AS added
    ON kind = 'pull' AND added.name = target ORDER BY target`;

/** How long at least a job has failed: the times between so many failures in a row. */
export function failingMs({ everyMs, failures }: Pick<Job, "everyMs" | "failures">): number {
  let ms = 0;
  for (let failed = 1; failed < failures; failed++) ms += backoffMs(everyMs, failed);
  return ms;
}

/** The schedule of a data folder; none of one that lacks it or cannot be read. */
export function jobsIn(folder: string): readonly JobRow[] {
  try {
    const { catalogue } = storeFiles(folder);
    return jobRows(examine(catalogue, (db) => db.query(jobsSql("")).all()));
  } catch {
    // What is wrong with the catalogue is another check's.
    return [];
  }
}

/** A backup older than this is too old to want to restore it. */
const backupAgeMaxMs = 7 * dayMs;

/** How the followed lists are; empty if there are none. */
export function checkSources(jobs: readonly JobRow[], nowMs: number): Finding[] {
  const check = "sources";
  const pulls = jobs.filter(({ kind }) => kind === "pull");
  if (pulls.length === 0) return [];
  const wrong = pulls.flatMap(({ target, everyMs, sinceMs, problem, paused }) => {
    const advice = `rehome sources show ${shellWord(target)}`;
    if (paused !== null) {
      if (paused === "person") return [];
      const detail = `${target} is paused since ${paused === "undo" ? "an undo" : "a restore"}`;
      return [warn(check, detail, `rehome sources resume ${shellWord(target)}`)];
    }
    const state = lateness(everyMs, nowMs - sinceMs);
    const why = problem === null ? "" : `: ${problem.text.replace(/\.$/, "")}`;
    if (state === "ok") return problem === null ? [] : [warn(check, target + why, advice)];
    return [
      { check, state, detail: `${target}: no pull since ${isoSeconds(sinceMs)}${why}`, advice },
    ];
  });
  return wrong.length > 0 ? wrong : [ok(check, `${counted(pulls.length, "list")} followed`)];
}

/** The last backup of a data folder, and whether the service makes them in time. */
export async function checkBackup(
  folder: string,
  jobs: readonly JobRow[],
  nowMs: number,
  loaded: LoadedConfig,
  io: Io,
): Promise<Finding> {
  const check = "backup";
  const isWanted = loaded.valueOf(backupSettings.to) !== undefined;
  const job = isWanted ? jobs.find(({ kind }) => kind === "backup") : undefined;
  if (job !== undefined && job.problem !== null) {
    const { everyMs, sinceMs, failures } = job;
    // One that never succeeded has no time since when.
    const lateMs = Math.max(nowMs - sinceMs, failingMs(job));
    const state = failures > 0 && lateness(everyMs, lateMs) === "fail" ? "fail" : "warn";
    const failed = `the service failed to make one${timesInARow(failures)}`;
    const what = failures > 0 ? failed : "the last one is complete, but";
    const detail = `${what}: ${job.problem.text.replace(/\.$/, "")}`;
    return { check, state, detail, advice: "Correct that, then: rehome backup" };
  }
  const last = lastBackup(folder);
  const advice = !isWanted
    ? "Let the service make them (--backup-to), preferably on another machine."
    : "See that the service runs: it makes them.";
  if (last === undefined) return warn(check, "there is no backup yet", advice);
  try {
    const { place, name } = locate(last.file, loaded, io);
    if ((await place.sizeOf(name ?? "")) === undefined) {
      const remedy = "Mount its disk, or make another one. If you moved it, it is no loss.";
      return warn(check, `the last one is not at its place any more: ${last.file}`, remedy);
    }
  } catch (error) {
    return { ...failWith(check, error as AppError, advice), state: "warn" };
  }
  const detail = `${isoSeconds(last.atMs)}, ${bytesText(last.bytes)}, written to ${last.file}`;
  const ageMs = nowMs - last.atMs;
  const state = job === undefined ? "ok" : lateness(job.everyMs, ageMs);
  if (state === "ok" && ageMs <= backupAgeMaxMs) return ok(check, detail);
  const days = Math.floor(ageMs / dayMs);
  const late = `the last one is ${counted(days, "day")} old: ${detail}`;
  return { check, state: state === "fail" ? state : "warn", detail: late, advice };
}
