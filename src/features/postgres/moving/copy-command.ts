import { accessSync } from "node:fs";
import { resolve } from "node:path";
import { Command } from "commander";
import { AppError } from "../../../domain/errors.ts";
import { systemClock } from "../../../domain/clock.ts";
import { reasonOf } from "../../../domain/system-error.ts";
import { type CopiedPart, type CopyProgress, copyStore } from "./copy-store.ts";
import { openStore } from "../../../service/open-store.ts";
import { storeFiles } from "../../../storage/sqlite/files.ts";
import { type Io, printJson } from "../../../cli/io.ts";
import { addJson, json } from "../../../cli/json.ts";
import { addressIn, refuseMoved } from "../../../cli/open.ts";
import type { Config } from "../../../config.ts";
import type { Store } from "../../../storage/contract.ts";
import { run, sql, type Steps } from "../../../storage/statement.ts";
import { movedMark } from "../../../storage/store-state.ts";
import { storeState } from "../../../storage/tables.ts";
import { requireUnusedDatabase } from "./unused.ts";
import { beginWithoutStore } from "../../../cli/command.ts";
import { addSettings } from "../../../cli/options.ts";
import { requireUnused } from "../../hold-catalogue.ts";
import { type Progress, ProgressLine } from "../../progress.ts";
import { grouped } from "../../../cli/terminal/text.ts";
import { UsageError } from "../../../cli/errors.ts";

interface Options {
  readonly from?: string;
  readonly fromFile?: string;
  readonly to?: string;
  readonly toFile?: string;
  readonly resume?: true;
  readonly json?: true;
}

export const copiedSchema = json.object({
  from: json.text("source of the copy"),
  to: json.text("target of the copy"),
  parts: json.list(
    json.object({
      title: json.text("what the rows are"),
      rows: json.count("number of rows, on both sides"),
      checksum: json.text("checksum over all of them, equal on both sides"),
    }),
    { description: "what was copied" },
  ),
});

/** `rehome store copy`: everything, from a folder to a database or back, compared at the end. */
export function copyCommand(io: Io): Command {
  const command = new Command("copy")
    .description("copy everything to an empty place, and compare both sides")
    .option("--from <place>", "data folder, or postgres:// address")
    .option("--from-file <file>", "file that holds the address to copy from")
    .option("--to <place>", "data folder, or postgres:// address")
    .option("--to-file <file>", "file that holds the address to copy to")
    .option("--resume", "continue an interrupted copy to the same place")
    .addHelpText(
      "after",
      `
Animals keep their ids, and keys stay valid. Events, counters and usage are copied too. Stop every server on both places
first. The old place keeps everything and gets a mark: commands and servers on it then fail and name the new address, unless
they have --moved-store.

Examples:
  rehome store copy --from /var/lib/rehome --to-file /etc/rehome/store
  rehome store copy --from postgres://rehome:secret@db.example.org/rehome --to /var/lib/rehome`,
    );
  addJson(addSettings(command, ["storeTimeoutMs", "movedStore"]), copiedSchema);
  return command.action((options: Options) =>
    copy(io, options, beginWithoutStore(command, io).config),
  );
}

async function copy(io: Io, options: Options, config: Config): Promise<void> {
  const source = await placeOf("from", options.from, options.fromFile);
  const target = await placeOf("to", options.to, options.toFile);
  if (source === target) {
    throw new UsageError("--from and --to are the same place.", "Name another place with --to.");
  }
  if (!isAddress(source)) requireCatalogue(source);
  const resume = options.resume === true;
  const copied = await copyPlaces(io, { source, target, resume, config });
  if (options.json) return printJson(io, copied);
  const { from, to, parts } = copied;
  for (const { title, rows, checksum } of parts.filter((part) => part.rows > 0)) {
    io.out(`${grouped(rows).padStart(12)}  ${title.padEnd(16)} ${checksum}\n`);
  }
  io.out(`Copied from ${from} to ${to}; both sides are equal.\n`);
  io.err(`From now on rehome refuses to work on ${from}, and names the new place.\n`);
  return undefined;
}

/** Throws unless `folder` has a catalogue that this process can see. */
function requireCatalogue(folder: string): void {
  const { catalogue } = storeFiles(folder);
  try {
    accessSync(catalogue);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      throw new UsageError(
        `There is no rehome.db in ${folder}.`,
        "Name a data folder with --from.",
      );
    }
    throw new UsageError(
      `${catalogue} cannot be read: ${reasonOf(error)}.`,
      "Run it with sudo, or name another data folder with --from.",
    );
  }
}

interface PlacesToCopy {
  /** Whole paths of data folders, or addresses of databases. */
  readonly source: string;
  readonly target: string;
  readonly resume: boolean;
  readonly config: Pick<Config, "storeTimeoutMs" | "movedStore">;
}

/**
 * Copies everything from one place to an empty one, and shows on the terminal how far it is. See
 * `copyStore`. What is left is marked as moved, so that nobody changes it by mistake.
 */
export async function copyPlaces(
  io: Io,
  { source, target, resume, config }: PlacesToCopy,
): Promise<{ from: string; to: string; parts: CopiedPart[] }> {
  await requireUnusedPlace(source, config);
  await using from = disposable(await open(io, source, config.storeTimeoutMs));
  await refuseMoved(from.store, config);
  // While the source is open, so that it is not its own target by another address.
  await requireUnusedPlace(target, config);
  await using to = disposable(await open(io, target, config.storeTimeoutMs));
  await refuseMoved(to.store, config);
  const line = new ProgressLine(io, () => performance.now());
  try {
    const parts = await copyStore(from.store, to.store, {
      resume,
      onProgress: (progress) => line.show(shown(progress)),
      stop: io.stop,
    });
    line.clear();
    await mark(from.store, to.store.place);
    return { from: from.store.place, to: to.store.place, parts };
  } catch (error) {
    line.clear();
    if (!io.stop.aborted) throw error;
    throw new Error("Stopped. To continue, add --resume to the same command.", {
      cause: error,
    });
  }
}

/** Throws while a server uses the place: what it stores would not be in the new place. */
async function requireUnusedPlace(place: string, { storeTimeoutMs }: PlacesToCopy["config"]) {
  if (isAddress(place)) await requireUnusedDatabase(place, storeTimeoutMs);
  else requireUnused(storeFiles(place).catalogue);
}

/** The address or the whole path of the folder that the options name. */
async function placeOf(
  flag: "from" | "to",
  place: string | undefined,
  file: string | undefined,
): Promise<string> {
  if ((place === undefined) === (file === undefined)) {
    throw new UsageError(`Give either --${flag} or --${flag}-file.`, "rehome store copy --help");
  }
  const named = place ?? (await addressIn(file as string, `${flag}-file`));
  // As a path from everywhere: it is noted where the store moved to.
  return isAddress(named) ? named : resolve(named);
}

/** Whether a place is an address, of whatever kind, and not a folder. It may hold a password. */
function isAddress(place: string): boolean {
  return /^\w+:\/\//.test(place);
}

async function open(io: Io, place: string, timeoutMs: number) {
  const isDatabase = isAddress(place);
  return openStore(
    isDatabase ? place : undefined,
    {
      folder: isDatabase ? "" : place,
      clock: systemClock,
      timeoutMs,
      serving: false,
      onBackup: (file) => io.err(`The old store is kept in ${file}.\n`),
    },
    io.features.flatMap(({ stores = [] }) => stores),
  );
}

function disposable(store: Awaited<ReturnType<typeof open>>) {
  return { store, [Symbol.asyncDispose]: () => store.close() };
}

const labels = { comparing: "Comparing", copying: "Copying", checking: "Checking" } as const;

function shown({ phase, title, done, total }: CopyProgress): Progress {
  const fraction = total === undefined ? undefined : done / total;
  return { label: `${labels[phase]} ${title}`, done, unit: "rows", fraction };
}

/** Marks the store as moved to `place`, which must hold no password. */
async function mark(store: Store, place: string): Promise<void> {
  try {
    await store.transact(function* (): Steps<void> {
      yield* run(sql`DELETE FROM ${storeState} WHERE name = ${movedMark}`);
      yield* run(sql`INSERT INTO ${storeState} (name, value) VALUES (${movedMark}, ${place})`);
    });
  } catch (error) {
    // Such as a database that became read-only, which is a reason to leave it.
    throw new AppError("unavailable", `${store.place} could not be marked as moved.`, {
      cause: error,
      hint: `Everything is in ${place}, and both sides are equal. Use only that place from now on.`,
    });
  }
}
