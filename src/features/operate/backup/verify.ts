import { Database } from "bun:sqlite";
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { Argument, type Command } from "commander";
import { beginWithoutStore, commandOf } from "../../command.ts";
import { printJson } from "../../json.ts";
import { type Io } from "../../../cli/io.ts";
import { json, type Static } from "../../json.ts";
import { addSetting } from "../../../cli/options.ts";
import { counted, grouped } from "../../../cli/terminal/text.ts";
import { keyState, keyStates } from "../../keys/state.ts";
import { noBan } from "../../../domain/ban.ts";
import { isoSeconds, systemClock } from "../../../domain/clock.ts";
import { AppError } from "../../../domain/errors.ts";
import { petStatuses } from "../../../domain/pet.ts";
import { reasonOf } from "../../../domain/system-error.ts";
import { migrationsOf } from "../../../storage/sqlite/files.ts";
import { distrust } from "../../examine-catalogue.ts";
import { checkRules, ofBackup, verify } from "./checks.ts";
import { migrate } from "../../../storage/sqlite/migrate.ts";
import { findBackup, identityOption } from "./find.ts";
import { backupSettings } from "./settings.ts";

const { text, count, list, object, orNull, time } = json;

export const verifiedSchema = object({
  file: text("file that was read"),
  bytes: count("size of the file"),
  animals: count("animals in it"),
  keys: count("keys in it"),
  statuses: object(
    Object.fromEntries(
      [...petStatuses, "none"].map((name) => [name, count(`animals of the status ${name}`)]),
    ),
  ),
  states: object(
    Object.fromEntries(keyStates.map((name) => [name, count(`keys that are ${name} now`)])),
  ),
  newest: orNull(time("newest change of a key")),
  pending: list(text("migration that a start from it would apply")),
});

/** `rehome backup verify`: whether a backup can be restored, and what is in it. */
export function verifyCommand(io: Io): Command {
  const command = commandOf({
    name: "verify",
    about: "test a backup in memory, and print what it contains",
    arguments: [
      new Argument(
        "<file>",
        "backup to test, also in a bucket; the newest one of a folder or s3://BUCKET/PREFIX",
      ),
    ],
    options: [identityOption()],
    remark: `It needs as much memory as the file has bytes, but no data folder. What is encrypted or
in a bucket is copied to TMPDIR meanwhile. The exit code is 0 if the backup can be
restored.`,
    examples: [
      "rehome backup verify /var/backups/rehome",
      "rehome backup verify s3://bucket/rehome --identity key.txt",
      "rehome backup verify rehome.db --json | jq .animals",
    ],
    json: verifiedSchema,
  });
  addSetting(command, backupSettings.credentials);
  return command.action(async (address: string, options: { json?: true; identity?: string }) => {
    const loaded = beginWithoutStore(command, io);
    const backup = await findBackup(address, options.identity, loaded, io);
    using brought = await backup.bring(tmpdir());
    const file = backup.address;
    const found = { ...verifyBackup(brought.file, systemClock()), file };
    if (options.json) return printJson(io, found);
    const { bytes, animals, keys, statuses, states, newest, pending } = found;
    const schema = pending.length === 0 ? "schema up to date" : `a start updates its schema`;
    io.out(`${file} can be restored: ${grouped(bytes)} bytes, read through, ${schema}.\n`);
    io.out(`  ${counted(animals, "animal")}${parts(statuses)}\n`);
    io.out(`  ${counted(keys, "key")}${parts(states)}\n`);
    if (newest !== null) io.out(`  newest change of a key: ${newest}\n`);
    return undefined;
  });
}

/** `: 2 sold, 1 available`, without what there is none of. */
function parts(counts: Readonly<Record<string, number>>): string {
  const some = Object.entries(counts).filter(([, number]) => number > 0);
  if (some.length === 0) return "";
  return `: ${some.map(([name, number]) => `${grouped(number)} ${name === "none" ? "without a status" : name}`).join(", ")}`;
}

/**
 * Checks the backup `file`, applies all migrations to it in memory, and returns what it contains.
 * Throws AppError when it is not a backup, or is damaged.
 */
export function verifyBackup(file: string, nowMs: number): Static<typeof verifiedSchema> {
  requireBackup(file);
  verify(file);
  const image = readFileSync(file);
  // A catalogue in use says that it has a log (sqlite.org/fileformat2.html, section 1.3.3).
  image.fill(1, 18, 20);
  using db = Database.deserialize(image);
  distrust(db);
  checkRules(db, ofBackup(file));
  const pending = migrate(db, file, migrationsOf.catalogue);
  const zeros = (names: readonly string[]): Record<string, number> =>
    Object.fromEntries(names.map((name) => [name, 0]));
  const statuses = zeros([...petStatuses, "none"]);
  const byStatus = "SELECT coalesce(status, 'none') AS name, count(*) AS n FROM pets GROUP BY 1";
  for (const { name, n } of db.query<{ name: string; n: number }, []>(byStatus).all()) {
    statuses[name] = n;
  }
  const states = zeros(keyStates);
  const ends = `SELECT revoked_at_ms AS revoked, expires_at_ms AS expires,
    banned_until_ms AS bannedUntilMs, ban_reason AS reason, read_only AS readOnly FROM api_keys`;
  for (const { revoked, expires, bannedUntilMs, reason, readOnly } of db
    .query<Ends, []>(ends)
    .iterate()) {
    const ban = { ...noBan, bannedUntilMs, reason };
    const [revokedAtMs, expiresAtMs] = [revoked ?? undefined, expires ?? undefined];
    const key = { revokedAtMs, expiresAtMs, ban, readOnly: readOnly === 1 };
    const state = keyState(key, nowMs);
    states[state] = (states[state] ?? 0) + 1;
  }
  const newest = db
    .query<{ ms: number | null }, []>("SELECT max(at_ms) AS ms FROM key_events")
    .get()?.ms;
  const sum = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b, 0);
  return {
    file,
    bytes: statSync(file).size,
    animals: sum(statuses),
    keys: sum(states),
    statuses,
    states,
    newest: newest === null || newest === undefined ? null : isoSeconds(newest),
    pending,
  };
}

/** When a key ends, as its row has it. */
interface Ends {
  readonly revoked: number | null;
  readonly expires: number | null;
  readonly bannedUntilMs: number;
  readonly reason: string;
  readonly readOnly: number;
}

export function noBackup(address: string): AppError {
  return new AppError("not_found", `There is no backup ${address}.`, {
    hint: "See which there are: rehome backup list PLACE",
  });
}

/** Throws when `file` cannot be read, or holds nothing, or is a folder, a pipe or a device. */
export function requireBackup(file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") {
      throw noBackup(file);
    }
    throw new AppError("unavailable", `The backup ${file} cannot be read: ${reasonOf(error)}.`, {
      cause: error,
      hint: "Copy it to a folder that this user can read, such as /tmp.",
    });
  }
  const found = statSync(file);
  if (found.isFile() && found.size > 0) return;
  const why = found.isFile() ? "holds no catalogue" : "is not a file";
  throw new AppError("unavailable", `${file} ${why}; it is not a backup.`, {
    hint: "Name a file that rehome backup made.",
  });
}
