import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { AppError } from "../../../domain/errors.ts";
import { closeAtOnce } from "../connections.ts";
import { describeAddress, parseDatabaseAddress } from "../address.ts";
import { PrimaryFinder } from "../primary.ts";
import { explainRefusal } from "../failures.ts";
import { systemClock } from "../../../domain/clock.ts";
import { type CopiedPart, copyStore, holdsNothing } from "./copy.ts";
import { storeFiles } from "../../../storage/sqlite/files.ts";
import type { Io } from "../../../cli/io.ts";
import { printJson, json } from "../../json.ts";
import { refuseRoot } from "../../../cli/machine.ts";
import { typedWords } from "../../../cli/program.ts";
import { addressIn, openStore, refuseMoved } from "../../../cli/open.ts";
import type { Config } from "../../../config.ts";
import type { Store } from "../../../storage/contract.ts";
import { copyMark, getMeta, movedTo } from "../../../storage/database.ts";
import { beginWithoutStore, commandGroup, commandOf } from "../../command.ts";
import { addSettings } from "../../options.ts";
import { requireUnused } from "../../operate/examine-catalogue.ts";
import { grouped } from "../../../cli/terminal/text.ts";
import { UsageError } from "../../usage-error.ts";

interface Options {
  readonly from?: string;
  readonly fromFile?: string;
  readonly to?: string;
  readonly toFile?: string;
  readonly json?: true;
}

const copiedSchema = json.object({
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

export const storeCommand = (io: Io): Command =>
  commandGroup(
    io,
    {
      name: "store",
      about: "move everything between a data folder and a PostgreSQL database",
      examples: ["rehome store copy --from /var/lib/rehome --to-file /etc/rehome/store"],
    },
    [copyCommand],
  );

/** `rehome store copy`: everything, from a folder to a database or back, compared at the end. */
function copyCommand(io: Io): Command {
  const command = commandOf({
    name: "copy",
    about: "copy everything to an empty place, and compare both sides",
    options: [
      new Option("--from <place>", "data folder, or postgres:// address"),
      new Option("--from-file <file>", "file that holds the address to copy from"),
      new Option("--to <place>", "data folder, or postgres:// address"),
      new Option("--to-file <file>", "file that holds the address to copy to"),
    ],
    remark: `Animals keep their ids, and keys stay valid. Events, counters and usage are copied
too; people of the console sign in again. Stop every server on both places first.
The old place keeps everything and gets a mark: commands and servers on it then fail
and name the new address, unless they have --moved-store. A copy that is cut short is
served by nobody: the same command makes it again.`,
    examples: [
      "rehome store copy --from /var/lib/rehome --to-file /etc/rehome/store",
      "rehome store copy --from postgres://rehome:secret@db.example.org/rehome --to /var/lib/rehome",
    ],
    json: copiedSchema,
  });
  addSettings(command, ["storeTimeoutMs", "movedStore"]);
  return command.action((options: Options) =>
    copy(io, options, beginWithoutStore(command, io).config, typedWords(command)),
  );
}

async function copy(
  io: Io,
  options: Options,
  config: Config,
  words: readonly string[],
): Promise<void> {
  const source = await placeOf("from", options.from, options.fromFile);
  const target = await placeOf("to", options.to, options.toFile);
  if (source === target) {
    throw new UsageError("--from and --to are the same place.", "Name another place with --to.");
  }
  const folders = [source, target].filter((place) => !isAddress(place));
  if (folders.length === 2) {
    throw new UsageError(
      "Both places are folders, and a copy is for a folder and a database.",
      "rehome backup FILE --data FOLDER, then: rehome restore FILE --data NEW_FOLDER",
    );
  }
  if (folders[0] === source && !existsSync(storeFiles(source).catalogue)) {
    throw new UsageError(
      `There is no rehome.db in ${source} that this user can see.`,
      "Name another data folder with --from, or run it with sudo.",
    );
  }
  for (const folder of folders) refuseRoot(folder, words, io);
  const copied = await copyBetween(io, source, target, config);
  if (options.json) return printJson(io, copied);
  const { from, to, parts } = copied;
  for (const { title, rows, checksum } of parts.filter((part) => part.rows > 0)) {
    io.out(`${grouped(rows).padStart(12)}  ${title.padEnd(16)} ${checksum}\n`);
  }
  io.out(`Copied from ${from} to ${to}; both sides are equal.\n`);
  io.err(`From now on rehome refuses to work on ${from}, and names the new place.\n`);
  return undefined;
}

/**
 * Moves everything from one place to an empty one, and shows on the terminal how far it is. What is
 * left is marked as moved, so that nobody changes it by mistake.
 */
async function copyBetween(
  io: Io,
  source: string,
  target: string,
  config: Config,
): Promise<{ from: string; to: string; parts: CopiedPart[] }> {
  const say = (step: string) => void (io.stderrIsTTY && io.err(`${step}\n`));
  await requireUnusedPlace(source, config);
  await using opened = new AsyncDisposableStack();
  const from = await open(io, source, config);
  opened.defer(() => from.close());
  const moved = await from.db.read(movedTo);
  const shown = isAddress(target) ? describeAddress(parseDatabaseAddress(target)) : target;
  if (moved !== shown) await refuseMoved(from, config);
  // While the source is open, so that it is not its own target by another address.
  await requireUnusedPlace(target, config);
  const to = await open(io, target, config, from.place);
  opened.defer(() => to.close());
  const isPart = (await to.db.read((tx) => getMeta(tx, copyMark))) !== undefined;
  // Cut short at its very end, a copy has marked both sides. A new target has a mark too.
  const isAtEnd = isPart && !(await holdsNothing(to));
  if (moved !== undefined && !isAtEnd) await refuseMoved(from, config);
  if (!isPart) await refuseMoved(to, config);
  const parts = await copyStore(from, to, say);
  return { from: from.place, to: to.place, parts };
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
const isAddress = (place: string) => /^\w+:\/\//.test(place);

function open(io: Io, place: string, { storeTimeoutMs }: Config, copyOf?: string): Promise<Store> {
  const isDatabase = isAddress(place);
  return openStore(
    isDatabase ? place : undefined,
    {
      folder: isDatabase ? "" : place,
      clock: systemClock,
      timeoutMs: storeTimeoutMs,
      serving: false,
      mayMigrate: false,
      copyOf,
      onBackup: (file) => io.err(`The old store is kept in ${file}.\n`),
    },
    io,
  );
}

/** Throws while a server uses the place: what it stores would not be in the new place. */
const requireUnusedPlace = async (place: string, { storeTimeoutMs }: Config) =>
  isAddress(place)
    ? requireUnusedDatabase(place, storeTimeoutMs)
    : requireUnused(storeFiles(place).catalogue);

/** How long a session of a process that has ended may still be listed, and how often to look. */
const lingerMs = 1_000;
const pauseMs = 50;

/**
 * Throws `unavailable` while another process of rehome is connected to the database. A server asks
 * it four times a second, so it always is.
 */
async function requireUnusedDatabase(address: string, timeoutMs: number): Promise<void> {
  const parsed = parseDatabaseAddress(address);
  const where = describeAddress(parsed);
  const { sql } = await new PrimaryFinder(parsed, timeoutMs).find();
  try {
    const endMs = performance.now() + lingerMs;
    // An address may give its sessions another name.
    const others = () =>
      sql`
      SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND application_name IN ('rehome', current_setting('application_name'))
      LIMIT 1` as Promise<unknown[]>;
    while ((await others()).length > 0) {
      if (performance.now() > endMs) {
        throw new AppError("unavailable", `${where} is in use by another process.`, {
          hint: "Stop rehome on every machine, then try again. To see who is connected: SELECT * FROM pg_stat_activity WHERE application_name = 'rehome';",
        });
      }
      await Bun.sleep(pauseMs);
    }
  } catch (error) {
    throw explainRefusal(error, where);
  } finally {
    await closeAtOnce(sql);
  }
}
