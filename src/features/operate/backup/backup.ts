/** `rehome backup`: a checked copy of the catalogue, also of one that is in use. */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { Argument, type Command, Option } from "commander";
import { beginOnStore, commandOf } from "../../command.ts";
import { UsageError } from "../../usage-error.ts";
import { printJson, json } from "../../json.ts";
import type { Io } from "../../../cli/io.ts";
import { finishJob, type JobOutcome, jobsOf } from "../../schedule/jobs.ts";
import { withServices } from "../../with-services.ts";
import { addSettings, parseText, wholeNumber } from "../../options.ts";
import { counted, grouped } from "../../../cli/terminal/text.ts";
import type { LoadedConfig } from "../../../config.ts";
import { dayMs, systemClock } from "../../../domain/clock.ts";
import { AppError, messageOf } from "../../../domain/errors.ts";
import { reasonNotMade } from "../../../domain/system-error.ts";
import { storeFiles } from "../../../storage/sqlite/files.ts";
import { alreadyThere, backup, partialEnding } from "./copy.ts";
import { blankSecrets } from "./carry-over.ts";
import { encryptedEnding, encrypterFor, save, temporary } from "./encryption.ts";
import {
  backupFields,
  type Contents,
  contentsOf,
  dataFolder,
  listCommand,
  locate,
  verifyCommand,
} from "./find.ts";
import {
  type Kept,
  keepNewest,
  addressOf,
  lastBackup,
  markOf,
  noteMade,
  recordBackup,
  storeId,
} from "./keep.ts";
import { datedNames, isUnfinished, newName, stagedName } from "./names.ts";
import { type Content, deliver, isBucket, type Place } from "./places.ts";
import { backupSettings } from "../settings.ts";

export const backupSchema = json.object({
  ...backupFields,
  removed: json.list(json.text("older backup that --keep removed")),
});
interface Options {
  readonly keep?: number;
  readonly scheduled?: true;
  readonly json?: true;
}

export function backupCommand(io: Io): Command {
  const command = commandOf({
    name: "backup",
    about:
      "copy the catalogue and its keys to a file, a folder or a bucket, while the service runs",
    arguments: [
      new Argument(
        "[place]",
        "new file to write; or a folder or s3://BUCKET/PREFIX, for a dated file there; by default where --backup-to says",
      ).argParser(parseText),
    ],
    options: [
      new Option(
        "--keep <N>",
        "dated backups of this store to keep there; older ones are removed",
      ).argParser(wholeNumber(99_999)),
      // For the service: what went wrong is on the schedule, and no failure of the command.
      new Option("--scheduled").hideHelp(),
    ],
    remark: `The backup is one moment of the store. It gets its name after it was checked. It has
no request counters, and no credentials of followed lists unless it is encrypted; one
within an address (?key=...) stays. Dated names are rehome-STORE-TIME.db, in UTC, with
.age behind them if encrypted. --keep removes only such files of this store, and only
after the new backup is complete.`,
    examples: [
      "rehome backup /var/backups/rehome --keep 14",
      "rehome backup s3://bucket/rehome --backup-recipient age1...",
      "rehome backup list s3://bucket/rehome",
      "rehome backup verify /mnt/usb/rehome.db",
    ],
    json: backupSchema,
  })
    // What stands behind verify is its own, --json too.
    .enablePositionalOptions()
    .addCommand(verifyCommand(io))
    .addCommand(listCommand(io));
  const { recipient, credentials } = backupSettings;
  return addSettings(command, ["data", "movedStore", recipient, credentials]).action(
    (place: string | undefined, options: Options) => {
      const loaded = beginOnStore(command, io);
      return options.scheduled ? makeScheduled(loaded, io) : makeNow(place, options, loaded, io);
    },
  );
}

async function makeNow(
  place: string | undefined,
  options: Options,
  loaded: LoadedConfig,
  io: Io,
): Promise<void> {
  if (place === "-") {
    throw new UsageError(
      "A backup is a file, and does not go to standard output.",
      "Name a file or a folder; ./- for a file of that name.",
    );
  }
  const { contents, removeOlder } = await makeBackup(place, loaded, io, options);
  const { animals, keys, file, bytes } = contents;
  const text = `Backed up ${counted(animals, "animal")} and ${counted(keys, "key")} to ${file} (${grouped(bytes)} bytes, verified).\n`;
  if (!options.json) io.out(text);
  const { removed, problem } = await removeOlder();
  if (problem !== undefined) io.err(`Warning: ${problem}\n`);
  if (options.json) printJson(io, { ...contents, removed });
  else io.out(removed.map((each) => `Removed ${each}\n`).join(""));
}

/** Makes the backup of the settings, and stores on the schedule how it ended. */
async function makeScheduled(loaded: LoadedConfig, io: Io): Promise<void> {
  await withServices(loaded.config, io, async ({ store, clock }) => {
    const begun = (await jobsOf(store.db)).find(({ kind }) => kind === "backup");
    const outcome = await outcomeOf(loaded, io);
    if (begun === undefined) return;
    await store.db.transaction((tx) => finishJob(tx, begun, outcome, clock()));
  });
}

async function outcomeOf(loaded: LoadedConfig, io: Io): Promise<JobOutcome> {
  let isMade = false;
  try {
    const { removeOlder } = await makeBackup(undefined, loaded, io, { scheduled: true });
    isMade = true;
    const { problem } = await removeOlder();
    return { ok: true, ...(problem !== undefined && { problem: { text: problem } }) };
  } catch (error) {
    return { ok: isMade, problem: { text: messageOf(error) } };
  }
}

/**
 * Makes a backup at `address`, or where the settings have them. Throws AppError when that fails; a
 * backup that has its name is whole. `removeOlder` removes all of this store there but the newest.
 */
async function makeBackup(
  address: string | undefined,
  loaded: LoadedConfig,
  io: Io,
  { keep: wanted, scheduled }: Options,
) {
  const isOfSettings = address === undefined;
  const keep = wanted ?? (isOfSettings ? loaded.valueOf(backupSettings.keep) : undefined);
  const folder = dataFolder(loaded.config, "backup");
  const { place, name: given } = isOfSettings
    ? await ofSettings(folder, loaded, io, scheduled === true)
    : locate(address, loaded, io);
  if (keep !== undefined && given !== undefined) {
    throw new UsageError(
      `--keep needs a folder, and ${place.at(given)} is not a folder.`,
      "Create the folder for the account that makes the backups, and name it.",
    );
  }
  const recipient = loaded.valueOf(backupSettings.recipient);
  if (recipient !== undefined && given?.endsWith(encryptedEnding) === false) {
    throw new UsageError(
      "The name of an encrypted backup ends in .age.",
      `Name it ${given}${encryptedEnding}.`,
    );
  }
  if (given !== undefined && (await place.sizeOf(given)) !== undefined) {
    throw alreadyThere(place.at(given));
  }
  const nowMs = systemClock();
  const { catalogue } = storeFiles(folder);
  const id = storeId(catalogue);
  const ending = recipient === undefined ? "" : encryptedEnding;
  const name = given ?? (await newName(place, markOf(id), nowMs, ending));
  for (const each of new Set([folder, place.folder ?? folder])) removeUnfinished(each, nowMs);
  const { digest, ...made } = await sent(catalogue, folder, place, name, recipient);
  const file = addressOf(place, name);
  if (given === undefined) noteMade(catalogue, file, { bytes: made.bytes, digest });
  const settled = isOfSettings && place.folder !== undefined ? resolve(place.folder) : undefined;
  recordBackup(catalogue, { atMs: nowMs, file, bytes: made.bytes, folder: settled });
  const removeOlder = async (): Promise<Kept> => {
    if (keep === undefined) return { removed: [] };
    return keepNewest({ place, catalogue, id, newest: name, folder }, keep);
  };
  return { contents: made, removeOlder };
}

/** The folder or bucket of `--backup-to`; a folder is made in one that is there. */
async function ofSettings(
  data: string,
  loaded: LoadedConfig,
  io: Io,
  isScheduled: boolean,
): Promise<ReturnType<typeof locate>> {
  const to = loaded.valueOf(backupSettings.to);
  if (to === undefined) {
    throw new UsageError("A backup needs a place.", "Name a file, a folder or s3://BUCKET/PREFIX.");
  }
  if (isBucket(to)) return locate(to, loaded, io);
  if (isScheduled && lastBackup(data)?.folder === resolve(to)) {
    // An empty mount point has none of them.
    const names = existsSync(to) ? readdirSync(to) : [];
    if (datedNames(names).length === 0) {
      throw new AppError("unavailable", `${to} had backups, and is not the same folder now.`, {
        hint: "Mount its disk. To use the folder as it is: rehome backup",
      });
    }
  }
  try {
    if (!existsSync(to)) mkdirSync(to, { mode: 0o700 });
  } catch (error) {
    throw new AppError("unavailable", `${to} cannot be made: ${reasonNotMade(error)}.`, {
      cause: error,
      hint: "Make it for the account of the service. Its unit needs ReadWritePaths= for a folder elsewhere.",
    });
  }
  return locate(to, loaded, io);
}

/** Makes the backup in the data folder, encrypts it there, and sends it to its place. */
async function sent(
  catalogue: string,
  folder: string,
  place: Place,
  name: string,
  recipient?: string,
): Promise<Contents & Pick<Content, "digest">> {
  const plain = join(folder, stagedName());
  const encrypted = plain + partialEnding;
  using _files = temporary(plain, encrypted);
  backup(catalogue, plain, recipient === undefined ? blankSecrets : undefined);
  const contents = contentsOf(plain);
  if (recipient !== undefined) {
    const encrypter = await encrypterFor(recipient);
    await save(await encrypter.encrypt(Bun.file(plain).stream()), encrypted);
    rmSync(plain);
  }
  const { bytes, digest } = await deliver(place, name, recipient === undefined ? plain : encrypted);
  return { ...contents, file: place.at(name), bytes, digest };
}

/** Removes what backups left in the folder that were killed more than a day ago. */
function removeUnfinished(folder: string, nowMs: number): void {
  for (const name of existsSync(folder) ? readdirSync(folder).filter(isUnfinished) : []) {
    const path = join(folder, name);
    const left = statSync(path, { throwIfNoEntry: false });
    if (left !== undefined && left.mtimeMs < nowMs - dayMs) rmSync(path, { force: true });
  }
}
