/** What the doctor finds of the store: a data folder with disk and databases, or PostgreSQL. */
import type { Database } from "bun:sqlite";
import { existsSync, statSync, readdirSync, readFileSync, realpathSync, statfsSync } from "node:fs";
import type { Io } from "../../../cli/io.ts";
import { type LoadedConfig, serviceDataFolder } from "../../../config.ts";
import { clockToleranceMs, dayMs, isoSeconds } from "../../../domain/clock.ts";
import { AppError, shellWord } from "../../../domain/errors.ts";
import { migrationsOf, storeFiles } from "../../../storage/sqlite/files.ts";
import { inspectFolder, limitsAdvice } from "../../../storage/sqlite/migrate.ts";
import {
  examine,
  folderMovedTo,
  newestRecordSql,
  newestWindowSql,
  ofStore,
} from "../examine-catalogue.ts";
import { checkAll } from "../backup/copy.ts";
import { diagnosePostgres } from "../../postgres/diagnose.ts";
import { checkBackup, checkSources, jobsIn } from "./schedule.ts";
import { bytesText, fail, failWith, ok, warn, type Finding } from "./finding.ts";
import { reasonOf } from "../../../domain/system-error.ts";
import { freeBytes, refuseNetwork, requireFolder } from "../../../storage/sqlite/folder.ts";
import { backupSettings } from "../settings.ts";
import { ownership, mountAdvice, sharedFile, systemWithoutModes } from "../permissions.ts";
import { packagedUnit, unitFile, unitName } from "../systemd/command.ts";

/** systemd-timesyncd leaves this file once it has set the clock. */
const timesync = { folder: "/run/systemd/timesync", file: "/run/systemd/timesync/synchronized" };
/** A store in use has a backup or a request in less time than this. */
const quietMaxMs = 31 * dayMs;
/** No clock is right that shows a time before this program was written. */
const writtenMs = Date.UTC(2026, 0, 1);

export async function examineFolder(
  loaded: LoadedConfig,
  why: string,
  nowMs: number,
  io: Io,
): Promise<Finding[]> {
  const folder = loaded.config.data;
  const first = checkFolder(folder, why);
  const unit = checkUnit(loaded);
  if (first.state === "fail" || !existsSync(folder)) {
    return [first, ...unit, checkClock(nowMs, 0)];
  }
  const [catalogue, limits] = examineFiles(folder);
  const found = [catalogue, limits].flatMap(({ finding }) => finding ?? []);
  const jobs = jobsIn(folder);
  return [
    first,
    ...moved(folderMovedTo(folder)),
    ...found,
    ...(found.some(({ state }) => state === "fail") ? [] : checkStart(folder)),
    ...checkLog(folder),
    checkDisk(folder, catalogue.bytes),
    checkPermissions(folder),
    ...unit,
    ...(catalogue.bytes === 0 ? [] : [await checkBackup(folder, jobs, nowMs, loaded, io)]),
    ...checkSources(jobs, nowMs),
    checkClock(nowMs, Math.max(catalogue.newestMs, limits.newestMs)),
  ];
}

/** A store that was moved elsewhere serves nobody, and changes to it have no effect. */
function moved(place: string | undefined): Finding[] {
  if (place === undefined) return [];
  const advice = "Use that place; nothing is served from here.";
  return [fail("moved", `the store was moved to ${place}`, advice)];
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

/** The machine's clock, beside the newest time that the store knows of. */
function checkClock(nowMs: number, newestMs: number): Finding {
  const check = "clock";
  const now = isoSeconds(nowMs);
  const advice = "Set the clock, such as with: timedatectl set-ntp true";
  if (nowMs < writtenMs) return fail(check, `${now} is before the release of this program`, advice);
  if (newestMs > 0 && nowMs - newestMs > quietMaxMs) {
    const days = Math.floor((nowMs - newestMs) / dayMs);
    const detail = `${now} is ${days} days after ${isoSeconds(newestMs)}, the newest record of the store`;
    return warn(check, detail, "Unless nobody used it since, the clock is ahead. Compare: date -u");
  }
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
  const check = "database";
  try {
    const found = await diagnosePostgres(address, timeoutMs);
    const { where, host, rivals, server, bytes, pending, movedTo, jobs, newestMs } = found;
    const nowMs = clock();
    const used = host === undefined ? "" : `, on ${host}`;
    const detail = `${where} (${why})${used}, ${server}, ${bytesText(bytes)}`;
    const advice = "The next start updates it; make a dump with pg_dump first.";
    return [
      checkSchema(check, detail, pending, advice),
      ...moved(movedTo),
      ...rivals.map((each) => {
        // What it stores would be nobody's.
        const what = `${each} accepts writes too, though it is not the primary`;
        const remedy = "Stop it, and make it a standby of the primary, such as with pg_rewind.";
        return fail("second primary", what, remedy);
      }),
      ...checkSources(jobs, nowMs),
      checkClock(nowMs, newestMs),
    ];
  } catch (error) {
    const finding = failWith(check, error as AppError, "Check that it runs and can be reached.");
    return [{ ...finding, detail: `${finding.detail} (${why})` }, checkClock(clock(), 0)];
  }
}

function checkSchema(
  check: string,
  detail: string,
  pending: readonly string[],
  advice: string,
): Finding {
  return pending.length === 0
    ? ok(check, `${detail}, schema up to date`)
    : warn(check, `${detail}, schema lacks ${pending.join(", ")}`, advice);
}

interface Examined {
  /** Undefined when there is no such file yet. */
  readonly finding?: Finding;
  /** With the log beside it. */
  readonly bytes: number;
  readonly newestMs: number;
}

/** Looks at both databases of a data folder, through and through. They may be in use. */
export function examineFiles(folder: string): readonly [catalogue: Examined, limits: Examined] {
  return [
    examined(folder, "catalogue", newestRecordSql("")),
    examined(folder, "limits", newestWindowSql(""), limitsAdvice),
  ];
}

/** `newest` asks for the newest time; `advice` says what to do about damage if not a restore. */
function examined(
  folder: string,
  name: "catalogue" | "limits",
  newest: string,
  advice?: string,
): Examined {
  const path = storeFiles(folder)[name];
  const migrations = migrationsOf[name];
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size;
  const fileBytes = sizeOf(path);
  if (fileBytes === undefined) return { bytes: 0, newestMs: 0 };
  const bytes = fileBytes + (sizeOf(`${path}-wal`) ?? 0);
  const look = (db: Database) => {
    const pending = checkAll(db, path, migrations).map(({ tag }) => tag);
    // An older schema lacks some of the tables.
    if (pending.length > 0) return { pending, newestMs: 0 };
    const row = db.query<{ newest: number | null }, []>(newest).get();
    return { pending, newestMs: row?.newest ?? 0 };
  };
  const none = { pending: [], newestMs: 0 };
  try {
    const { pending, newestMs } = bytes === 0 ? none : examine(path, look, ofStore(path, advice));
    const detail = `${path}, ${bytesText(bytes)}, integrity checked`;
    const remedy = "The next start updates it, and keeps a copy.";
    return { finding: checkSchema(name, detail, pending, remedy), bytes, newestMs };
  } catch (error) {
    const { message } = error as Error;
    const problem =
      error instanceof AppError
        ? failWith(name, error, "Restore a backup.")
        : fail(name, `${path} cannot be read: ${message}`, "Check its owner, and who locks it.");
    return { finding: problem, bytes, newestMs: 0 };
  }
}

/** Below this, free some space now. Commits still work for a while, and `/ready` passes. */
const freeFailBytes = 64 * 1024 * 1024;
/** A backup or a migration writes the catalogue once more. This much should be left beside it. */
const freeSpareBytes = 256 * 1024 * 1024;
/** SQLite cuts its log back to 16 MiB, unless somebody reads what came before. */
const logMaxBytes = 64 * 1024 * 1024;

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
  const { catalogue, limits } = storeFiles(folder);
  if (isEmpty && existsSync(limits)) {
    const detail = `${from} holds no catalogue: ${catalogue} is missing, but ${limits} is there`;
    return fail(check, detail, "Put it back, or restore a backup.");
  }
  if (isEmpty) return warn(check, `${from} holds no catalogue yet`, "rehome serve makes one.");
  return ok(check, from);
}

const hasCatalogue = (folder: string) => existsSync(storeFiles(folder).catalogue);

/** Whether its owner alone can read the folder, and owns all files in it. */
function checkPermissions(folder: string): Finding {
  const check = "permissions";
  const at = shellWord(folder);
  const advice = `Give all of it to one user: chown -R --reference=${at} ${at}; chmod -R u+rwX,go= ${at}`;
  try {
    const path = sharedFile(folder);
    if (path === undefined) return ok(check, "only the folder's user can read it");
    const system = systemWithoutModes(folder);
    return system === undefined
      ? warn(check, `others can read or change ${path}: it ${ownership(path)}`, advice)
      : warn(check, `others can read ${path}: ${system} keeps no permissions`, mountAdvice);
  } catch (error) {
    return warn(check, `${folder} cannot be listed: ${reasonOf(error)}`, advice);
  }
}

/** A log that grew because it cannot be moved into the database. */
function checkLog(folder: string): Finding[] {
  const log = `${storeFiles(folder).catalogue}-wal`;
  const bytes = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes <= logMaxBytes) return [];
  const detail = `${log} has ${bytesText(bytes)}: somebody has been reading the database for long`;
  return [warn("log", detail, `Find and end that process: fuser -v ${shellWord(log)}`)];
}

/** The folders of the settings that the unit of the service lets nobody write to. */
function checkUnit({ config, service, valueOf }: LoadedConfig): Finding[] {
  // Its settings apply to this command because they are the service's.
  const unit = service === undefined ? new Map<string, string[]>() : unitSettings();
  if (unit.get("ProtectSystem")?.at(-1) !== "strict") return [];
  const wordsOf = (name: string) => unit.get(name)?.flatMap((each) => each.split(/ +/)) ?? [];
  const open = [
    ...wordsOf("StateDirectory").map((name) => `/var/lib/${name}`),
    ...wordsOf("ReadWritePaths").map((path) => path.replace(/^[-+]*/, "")),
    // FROM:TO, or one path for both.
    ...wordsOf("BindPaths").map((paths) => paths.replace(/^-?(?:[^:]*:)?([^:]*).*$/, "$1")),
  ];
  const backups = valueOf(backupSettings.to);
  const folders = [config.data, ...(backups?.startsWith("/") === true ? [backups] : [])];
  const isOpen = (path: string) =>
    open.some((each) => `${path}/`.startsWith(`${each.replace(/\/+$/, "")}/`));
  return folders
    .filter((folder) => !isOpen(folder) && !(existsSync(folder) && isOpen(realpathSync(folder))))
    .map((folder) => {
      const line = `ReadWritePaths=${folder}`;
      const advice = `sudo systemctl edit ${unitName}, add [Service] and ${line}, then: sudo systemctl restart rehome`;
      return fail("unit", `${unitName} may not write to ${folder}`, advice);
    });
}

/** The settings of the service's unit and of its drop-ins, by name, in their order. */
function unitSettings(): Map<string, string[]> {
  const unit = [unitFile, packagedUnit].find(existsSync);
  const dropIns = existsSync(`${unitFile}.d`) ? readdirSync(`${unitFile}.d`).toSorted() : [];
  const files = dropIns.filter((name) => name.endsWith(".conf"));
  const all = [
    ...(unit === undefined ? [] : [unit]),
    ...files.map((each) => `${unitFile}.d/${each}`),
  ];
  const found = new Map<string, string[]>();
  for (const line of all.flatMap((file) => readFileSync(file, "utf8").split("\n"))) {
    const [, name, value = ""] = /^\s*(\w+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    // An empty value forgets what was set before.
    if (name !== undefined)
      found.set(name, value === "" ? [] : [...(found.get(name) ?? []), value]);
  }
  return found;
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
