import { existsSync, statSync } from "node:fs";
import { clockToleranceMs, dayMs, isoSeconds } from "../../../domain/clock.ts";
import { type AppError, shellWord } from "../../../domain/errors.ts";
import { storeFiles } from "../../../storage/sqlite/files.ts";
import { inspectFolder } from "../../../storage/sqlite/inspect.ts";
import { diagnosePostgres } from "../../postgres/diagnose.ts";
import { folderMovedTo } from "../../hold-catalogue.ts";
import { diagnose, type Diagnosis } from "./sqlite.ts";
import { lastBackup } from "../backup/backup.ts";
import { restoring } from "../backup/restore.ts";
import { bytesText, fail, failWith, ok, warn, type Finding } from "./finding.ts";
import { checkDisk, checkFolder, checkPermissions } from "./folder.ts";

/** A backup older than this is too old to want to restore it. */
const backupAgeMaxMs = 7 * dayMs;
/** systemd-timesyncd leaves this file once it has set the clock. */
const timesync = { folder: "/run/systemd/timesync", file: "/run/systemd/timesync/synchronized" };
/** No clock is right that shows a time before this program was written. */
const writtenMs = Date.UTC(2026, 0, 1);

/** Examines the data folder that the setting `why` names, and changes nothing. */
export function examineFolder(folder: string, why: string, nowMs: number): Finding[] {
  const first = checkFolder(folder, why);
  if (!existsSync(folder) || first.state === "fail") return [first, checkClock(nowMs, 0)];
  const databases = diagnose(folder);
  const found = databases.filter(({ bytes }) => bytes !== undefined).map(checkDatabase);
  const newestMs = Math.max(...databases.map((each) => each.newestMs));
  const catalogueBytes = databases[0]?.bytes ?? 0;
  return [
    first,
    ...moved(folderMovedTo(folder)),
    ...found,
    ...(found.some(({ state }) => state === "fail") ? [] : checkStart(folder)),
    checkDisk(folder, catalogueBytes),
    checkPermissions(folder),
    ...leftOver(folder),
    ...(catalogueBytes === 0 ? [] : [checkBackup(folder, nowMs)]),
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

function checkBackup(folder: string, nowMs: number): Finding {
  const check = "backup";
  const last = lastBackup(folder);
  const advice = "Run rehome backup FILE, preferably every day and to another disk.";
  if (last === undefined) return warn(check, "there is no backup yet", advice);
  const ageMs = nowMs - last.atMs;
  const days = Math.floor(ageMs / dayMs);
  const detail = `${isoSeconds(last.atMs)}, ${bytesText(last.bytes)}, written to ${last.file}`;
  return ageMs > backupAgeMaxMs
    ? warn(check, `the last one is ${days} days old: ${detail}`, advice)
    : ok(check, detail);
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

/** Examines a PostgreSQL database, and changes nothing. */
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
