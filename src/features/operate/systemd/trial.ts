/** The data of a trial, which an installation takes along. */
import type { Database } from "bun:sqlite";
import { existsSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { defaultDataFolder, serviceDataFolder, settings, variableOf } from "../../../config.ts";
import { AppError, shellWord } from "../../../domain/errors.ts";
import { homeOf } from "../../../storage/system.ts";
import { storeFiles } from "../../../storage/sqlite/files.ts";
import { examine } from "../../../storage/sqlite/inspect.ts";
import type { Io } from "../../../cli/io.ts";
import { isYes } from "../../../cli/terminal/confirm.ts";
import { counted } from "../../../cli/terminal/text.ts";
import { copyPlaces } from "../../postgres/moving/command.ts";
import { refuseMovedFolder, requireUnused } from "../../hold-catalogue.ts";

/** The trial whose data comes along: the named one, or one that a person agrees to. */
export async function chosenTrial(from: string | undefined, io: Io): Promise<string | undefined> {
  if (from !== undefined) {
    requireTrial(from, io);
    return from;
  }
  const found = isServiceNew() ? trialOf(io) : undefined;
  if (found === undefined) return undefined;
  const answer = io.canAsk
    ? await io.ask(`Copy the data of the trial in ${found} to the service? [y/N] `)
    : "";
  if (!isYes(answer)) {
    io.err(
      `The data of the trial stays in ${found}; --from ${shellWord(found)} copies it to the service.\n`,
    );
    return undefined;
  }
  requireTrial(found, io);
  return found;
}

/** The folder in which the user who runs the installation has tried rehome, if any. */
function trialOf({ env }: Io): string | undefined {
  const home = homeOf(env["SUDO_USER"] ?? "");
  const own = home === undefined ? [] : [join(home, ".local/share/rehome")];
  return [...own, defaultDataFolder(env)].find(
    (folder) => folder !== serviceDataFolder && existsSync(storeFiles(folder).catalogue),
  );
}

/** True when the service has nothing yet that a trial's data would have to go beside. */
function isServiceNew(): boolean {
  return !existsSync(storeFiles(serviceDataFolder).catalogue);
}

/** Throws when the data in `from` cannot be copied, before anything is changed. */
function requireTrial(from: string, io: Io): void {
  const source = storeFiles(resolve(from)).catalogue;
  if (!existsSync(source)) {
    throw new AppError("not_found", `There is no rehome.db in ${from}.`, {
      hint: "Name the folder of the trial, which its banner shows as Data.",
    });
  }
  const variables = io.machine.service()?.variables;
  const isOnDatabase = [settings.store, settings.storeFile].some((setting) =>
    variables?.has(variableOf(setting)),
  );
  if (isOnDatabase) {
    throw new AppError("invalid_request", "The service keeps its data in a database.", {
      hint: `rehome store copy --from ${shellWord(from)} --to-file FILE`,
    });
  }
  const folder = variables?.get(variableOf(settings.data)) ?? serviceDataFolder;
  if (folder !== serviceDataFolder) {
    throw new AppError("invalid_request", `The service keeps its data in ${folder}.`, {
      hint: `rehome store copy --from ${shellWord(from)} --to ${shellWord(folder)}`,
    });
  }
  if (!isServiceNew() && examine(storeFiles(serviceDataFolder).catalogue, hasRows)) {
    throw new AppError(
      "invalid_request",
      `${serviceDataFolder} already has keys or animals. A trial can be copied only into an empty folder.`,
      {
        hint: `Import its animals: rehome pets export --data ${shellWord(resolve(from))} | rehome pets import -`,
      },
    );
  }
  // Marked, it would be refused only once the units were written.
  refuseMovedFolder(resolve(from), { movedStore: false });
  requireUnused(source);
  if (!isServiceNew()) requireUnused(storeFiles(serviceDataFolder).catalogue);
}

function hasRows(db: Database): boolean {
  const sql = "SELECT EXISTS (SELECT 1 FROM api_keys) OR EXISTS (SELECT 1 FROM pets) AS found";
  return db.query<{ found: number }, []>(sql).get()?.found === 1;
}

/**
 * Copies a trial into the empty folder of the service, and compares both: animals, keys with their
 * secrets, counters and history. The trial stays. After a failure the service's folder is as
 * before.
 */
export async function takeAlong(from: string, io: Io): Promise<void> {
  const isNew = isServiceNew();
  try {
    const { parts } = await copyPlaces(io, {
      source: resolve(from),
      target: serviceDataFolder,
      resume: false,
      config: { storeTimeoutMs: settings.storeTimeoutMs.default, movedStore: false },
    });
    const rowsOf = (title: string) => parts.find((part) => part.title === title)?.rows ?? 0;
    const what = `${counted(rowsOf("animals"), "animal")} and ${counted(rowsOf("keys"), "key")}`;
    io.out(`Copied ${what} from ${from} to ${serviceDataFolder}; both sides are equal.\n`);
  } catch (error) {
    if (isNew) removeStore(serviceDataFolder);
    throw error;
  }
}

function removeStore(folder: string): void {
  for (const file of Object.values(storeFiles(folder))) {
    for (const ending of ["", "-wal", "-shm"]) rmSync(file + ending, { force: true });
  }
}
