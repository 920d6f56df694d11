/** What the doctor finds of the store: the data folder with its databases, or PostgreSQL. */
import type { Database } from "bun:sqlite";
import { existsSync, readdirSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { serviceDataFolder } from "../../../config.ts";
import { clockToleranceMs, isoSeconds } from "../../../domain/clock.ts";
import { AppError, shellWord } from "../../../domain/errors.ts";
import { reasonOf } from "../../../domain/system-error.ts";
import { windowMs } from "../../../domain/windows.ts";
import { checkAll } from "../../../storage/sqlite/backup.ts";
import { freeBytes } from "../../../storage/sqlite/checks.ts";
import type { JobRow } from "../../jobs.ts";
import { migrationsOf, storeFiles } from "../../../storage/sqlite/files.ts";
import { ownership, refuseNetwork, requireFolder } from "../../../storage/sqlite/folder.ts";
import { examine, inspectFolder, limitsAdvice, ofStore } from "../../../storage/sqlite/inspect.ts";
import { folderMovedTo } from "../../hold-catalogue.ts";
import { diagnosePostgres } from "../../postgres/diagnose.ts";
import { restoring } from "../backup/restore.ts";
import { checkSources, jobsIn } from "./schedule.ts";
import { bytesText, fail, failWith, ok, warn, type Finding } from "./finding.ts";

/** systemd-timesyncd leaves this file once it has set the clock. */
const timesync = { folder: "/run/systemd/timesync", file: "/run/systemd/timesync/synchronized" };
/** No clock is right that shows a time before this program was written. */
const writtenMs = Date.UTC(2026, 0, 1);

/** `backup` looks for the last backup of a folder that has a catalogue. */
export async function examineFolder(
  folder: string,
  why: string,
  nowMs: number,
  backup: (jobs: readonly JobRow[]) => Promise<Finding>,
): Promise<Finding[]> {
  const first = checkFolder(folder, why);
  if (!existsSync(folder) || first.state === "fail") return [first, checkClock(nowMs, 0)];
  const databases = diagnose(folder);
  const found = databases.filter(({ bytes }) => bytes !== undefined).map(checkDatabase);
  const newestMs = Math.max(...databases.map((each) => each.newestMs));
  const catalogueBytes = databases[0]?.bytes ?? 0;
  const jobs = jobsIn(folder);
  return [
    first,
    ...moved(folderMovedTo(folder)),
    ...found,
    ...(found.some(({ state }) => state === "fail") ? [] : checkStart(folder)),
    checkDisk(folder, catalogueBytes),
    checkPermissions(folder),
    ...leftOver(folder),
    ...(catalogueBytes === 0 ? [] : [await backup(jobs)]),
    ...checkSources(jobs, nowMs),
    checkClock(nowMs, newestMs),
  ];
}

/** A store that was moved elsewhere serves nobody, and changes to it have no effect. */
function moved(place: string | undefined): Finding[] {
  if (place === undefined) return [];
  const advice = "Use that place; nothing is served from here.";
  return [fail("moved", `the store was moved to ${place}`, advice)];
}

/** A restore that was killed leaves its copy until the next one. */
function leftOver(folder: string): Finding[] {
  const file = restoring(storeFiles(folder).catalogue);
  const left = statSync(file, { throwIfNoEntry: false });
  if (left === undefined) return [];
  const detail = `a restore that did not end left ${file}, ${bytesText(left.size)}`;
  return [warn("leftover", detail, `If no restore is under way: rm ${shellWord(file)}`)];
}

/** What `rehome serve` would refuse of the files, if anything. */
function checkStart(folder: string): Finding[] {
  try {
    inspectFolder(storeFiles(folder));
    return [];
  } catch (error) {
    return [failWith("start", error as AppError, "Restore a backup.")];
  }
}

function checkDatabase({ name, path, bytes = 0, pending, problem }: Diagnosis): Finding {
  if (problem !== undefined) return failWith(name, problem, "Restore a backup.");
  const detail = `${path}, ${bytesText(bytes)}, integrity checked`;
  if (pending.length === 0) return ok(name, `${detail}, schema up to date`);
  return warn(
    name,
    `${detail}, schema lacks ${pending.join(", ")}`,
    "The next start updates it, and keeps a copy.",
  );
}

/** The machine's clock, beside the newest time that the store knows of. */
function checkClock(nowMs: number, newestMs: number): Finding {
  const check = "clock";
  const now = isoSeconds(nowMs);
  const advice = "Set the clock, such as with: timedatectl set-ntp true";
  if (nowMs < writtenMs) return fail(check, `${now} is before the release of this program`, advice);
  if (newestMs > nowMs + clockToleranceMs) {
    return warn(
      check,
      `${now} is behind ${isoSeconds(newestMs)}, which the store has already seen`,
      advice,
    );
  }
  if (existsSync(timesync.folder) && !existsSync(timesync.file)) {
    return warn(check, `${now}, not synchronized yet`, advice);
  }
  return ok(check, now);
}

export async function examineDatabase(
  address: string,
  why: string,
  timeoutMs: number,
  clock: () => number,
): Promise<Finding[]> {
  const found = await diagnosePostgres(address, timeoutMs);
  if (found.problem !== undefined) {
    const { message, hint = "Check that it runs and can be reached." } = found.problem;
    return [
      fail("database", `${message.replace(/\.$/, "")} (${why})`, hint),
      checkClock(clock(), 0),
    ];
  }
  const detail = `${found.where} (${why}), ${found.server}, ${bytesText(found.bytes)}`;
  const nowMs = clock();
  return [
    found.pending.length === 0
      ? ok("database", `${detail}, schema up to date`)
      : warn(
          "database",
          `${detail}, schema lacks ${found.pending.join(", ")}`,
          "The next start updates it; make a dump with pg_dump first.",
        ),
    ...moved(found.movedTo),
    ...checkSources(found.jobs, nowMs),
    ...checkSkew(Math.abs(nowMs - found.serverMs)),
    checkClock(nowMs, 0),
  ];
}

function checkSkew(skewMs: number): Finding[] {
  if (skewMs <= clockToleranceMs) return [];
  const detail = `this machine and the database differ by ${Math.round(skewMs / 1_000)} s`;
  const advice = "Synchronize both clocks; the limits use the clock of the database.";
  return [warn("clock skew", detail, advice)];
}

/** Below this, free some space now. Commits still work for a while, and `/ready` passes. */
const freeFailBytes = 64 * 1024 * 1024;
/** A backup or a migration writes the catalogue once more. This much should be left beside it. */
const freeSpareBytes = 256 * 1024 * 1024;
const othersMask = 0o077;

/** The data folder: whether it is there, on a disk that locks hold on, and can be written. */
function checkFolder(folder: string, why: string): Finding {
  const check = "data folder";
  const from = `${folder} (${why})`;
  const isEmpty = !hasCatalogue(folder);
  if (isEmpty && hasCatalogue(serviceDataFolder)) {
    return fail(
      check,
      `${from} holds no catalogue, but ${serviceDataFolder} does`,
      `Name that folder with --data ${serviceDataFolder} or REHOME_DATA, or run the command as its owner.`,
    );
  }
  try {
    requireFolder(folder);
    if (!existsSync(folder)) {
      return warn(check, `${from} does not exist yet`, "rehome serve makes it.");
    }
    refuseNetwork(folder, statfsSync(folder).type);
  } catch (error) {
    return failWith(check, error as AppError, "Name another folder with --data.");
  }
  if (isEmpty) return warn(check, `${from} holds no catalogue yet`, "rehome serve makes one.");
  return ok(check, from);
}

function hasCatalogue(folder: string): boolean {
  return existsSync(storeFiles(folder).catalogue);
}

/** Whether its owner alone can read the folder, and owns all files in it. */
function checkPermissions(folder: string): Finding {
  const check = "permissions";
  const { uid } = statSync(folder);
  const at = shellWord(folder);
  const advice = `Give all of it to one user: chown -R --reference=${at} ${at}; chmod -R u+rwX,go= ${at}`;
  try {
    for (const name of [".", ...readdirSync(folder)]) {
      const path = join(folder, name);
      // A log that SQLite has just folded into its file is missing.
      const file = statSync(path, { throwIfNoEntry: false });
      if (file === undefined) continue;
      if ((file.mode & othersMask) !== 0) {
        return warn(check, `others can read ${path}: it ${ownership(path)}`, advice);
      }
      if (file.uid !== uid) {
        return warn(
          check,
          `${path} has another owner than the folder: it ${ownership(path)}`,
          advice,
        );
      }
    }
  } catch (error) {
    return warn(check, `${folder} cannot be listed: ${reasonOf(error)}`, advice);
  }
  return ok(check, "only the folder's user can read it");
}

/** Room on the disk, beside a catalogue of `catalogueBytes`. */
function checkDisk(folder: string, catalogueBytes: number): Finding {
  const check = "disk";
  const free = freeBytes(folder);
  const detail = `${bytesText(free)} free, the catalogue takes ${bytesText(catalogueBytes)}`;
  if (free < freeFailBytes) {
    return fail(check, detail, "Free some space now: creates are refused when the disk is full.");
  }
  if (free < catalogueBytes + freeSpareBytes) {
    return warn(check, detail, "Free some space: an upgrade needs as much as the catalogue takes.");
  }
  return ok(check, detail);
}

interface Diagnosis {
  readonly name: "catalogue" | "limits";
  readonly path: string;
  /** With the log beside it. Undefined when there is no such file yet. */
  readonly bytes: number | undefined;
  readonly pending: readonly string[];
  readonly newestMs: number;
  readonly problem: AppError | undefined;
}

/** Looks at both databases of a data folder, through and through. They may be in use. */
export function diagnose(folder: string): Diagnosis[] {
  const newestEvent = "SELECT max(at_ms) AS newest FROM key_events";
  const newestWindow = `SELECT max(minute_label) * ${windowMs.minute} AS newest FROM rate_windows`;
  return [
    examined(folder, "catalogue", newestEvent),
    examined(folder, "limits", newestWindow, limitsAdvice),
  ];
}

/** `newest` asks for the newest time; `advice` says what to do about damage if not a restore. */
function examined(
  folder: string,
  name: Diagnosis["name"],
  newest: string,
  advice?: string,
): Diagnosis {
  const path = storeFiles(folder)[name];
  const migrations = migrationsOf[name];
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size;
  const fileBytes = sizeOf(path);
  const bytes = fileBytes === undefined ? undefined : fileBytes + (sizeOf(`${path}-wal`) ?? 0);
  const unknown = { name, path, bytes, pending: [], newestMs: 0, problem: undefined };
  if (bytes === undefined || bytes === 0) return unknown;
  try {
    const look = (db: Database) => {
      const pending = checkAll(db, path, migrations).map(({ tag }) => tag);
      // Nothing to ask where a first start was cut short.
      if (pending.length === migrations.length) return { ...unknown, pending };
      const row = db.query<{ newest: number | null }, []>(newest).get();
      return { ...unknown, pending, newestMs: row?.newest ?? 0 };
    };
    return examine(path, look, ofStore(path, advice));
  } catch (error) {
    return { ...unknown, problem: problemOf(error, path) };
  }
}

function problemOf(error: unknown, path: string): AppError {
  if (error instanceof AppError) return error;
  const { message } = error as Error;
  return new AppError("unavailable", `${path} cannot be read: ${message}.`, {
    cause: error,
    hint: "Check the owner of the file, and that no other program locks it.",
  });
}
