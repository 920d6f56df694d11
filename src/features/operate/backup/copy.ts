/**
 * Copies of a database: VACUUM INTO, a check of all that makes it a good backup (schema, pages,
 * indexes, references, rules), and a name that it gets at the end.
 */
import { accessSync, closeSync, constants, existsSync, openSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { AppError } from "../../../domain/errors.ts";
import { reasonNotMade, reasonOf } from "../../../domain/system-error.ts";
import { flush, giveName, vacuumInto } from "../../../storage/sqlite/backup.ts";
import { asAppError, isFull } from "../../../storage/sqlite/connection.ts";
import { migrationsOf } from "../../../storage/sqlite/files.ts";
import { requireFolder, requirePlainFiles } from "../../../storage/sqlite/folder.ts";
import { pendingMigrations, migrate } from "../../../storage/sqlite/migrate.ts";
import {
  examine,
  noSpace,
  ofStore,
  reportingDamage,
  type Blame,
  Damage,
} from "../examine-catalogue.ts";
import { ownership } from "../permissions.ts";
import { Database } from "bun:sqlite";
import type { Migration } from "../../../storage/migration-history.ts";

export const partialEnding = ".partial";

/**
 * Copies one moment of the catalogue `source`, which may be in use, to the new file `target`. The
 * copy gets its name after its check. Never overwrites. It has no counters, so a restore gives no
 * used requests back. `prepare` changes the copy before it is checked.
 */
export function backup(source: string, target: string, prepare?: (copy: string) => void): void {
  requireFolder(dirname(source), constants.X_OK);
  requirePlainFiles([source]);
  if (!existsSync(source)) throw noCatalogue(source, "missing");
  if (existsSync(target)) throw alreadyThere(target);
  const pending = examine(source, (db) => pendingMigrations(db, source, migrationsOf.catalogue));
  // A first start that was cut short leaves a database without a table.
  if (pending.length === migrationsOf.catalogue.length) throw noCatalogue(source, "empty");
  requireWritable(source);
  const partial = emptyFile(target + partialEnding, target);
  try {
    reportingDamage(ofStore(source), () => vacuumInto(source, partial));
    prepare?.(partial);
    verifyCopy(partial, source);
    flush(partial);
    nameNew(partial, target);
  } catch (error) {
    const hint = "Free some space, or name a file on another disk.";
    throw isFull(error) ? noSpace(target, error, hint) : asAppError(error);
  } finally {
    rmSync(partial, { force: true });
  }
}

/** Checks the copy. A fault that the source has too is the source's. */
function verifyCopy(copy: string, source: string): void {
  const hint = "Check the disk of the copy, and make another one.";
  try {
    verify(copy, { what: `The copy of ${source}`, hint });
  } catch (error) {
    verify(source, ofStore(source));
    throw error;
  }
}

/** Throws for a catalogue in a folder that cannot be written: reading it needs files beside it. */
function requireWritable(source: string): void {
  const folder = dirname(source);
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    const needs = `reading needs to write to its folder: ${reasonOf(error)}, and it ${ownership(folder)}`;
    throw new AppError("unavailable", `${source} cannot be backed up: ${needs}.`, {
      hint: "Copy it, and its -wal if there is one, to a folder on another disk. There rehome backup verify tests it.",
    });
  }
}

function noCatalogue(source: string, state: string): AppError {
  return new AppError("not_found", `There is no catalogue to back up: ${source} is ${state}.`, {
    hint: "Name the data folder with --data.",
  });
}

/** `name`, or the first of `name-2`, `name-3` ... that is free. */
export function freeName(name: string): string {
  for (let number = 2, free = name; ; number += 1) {
    if (!existsSync(free)) return free;
    free = `${name}-${number}`;
  }
}

/** A new file for its user alone, empty so that SQLite may fill it. Errors name it `shown`. */
export function emptyFile(path: string, shown = path): string {
  try {
    closeSync(openSync(path, "wx", 0o600));
    return path;
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === "EEXIST";
    throw new AppError("unavailable", `${shown} cannot be made: ${reasonNotMade(error)}.`, {
      cause: error,
      hint: isThere
        ? `Another process may be writing ${path}. If none is, delete that file.`
        : "Name a file in a folder that this user can write to.",
    });
  }
}

/** Gives a finished file its name. Throws AppError if that is taken. */
export function nameNew(partial: string, name: string): void {
  if (!giveName(partial, name)) throw alreadyThere(name);
}

export function alreadyThere(target: string): AppError {
  return new AppError(
    "invalid_request",
    `${target} exists, and a backup never overwrites a file.`,
    {
      hint: "Name a file that does not exist yet.",
    },
  );
}

export const ofBackup = (path: string): Blame => ofStore(path, "Take an earlier backup.");

/** Reads all of a backup: schema, pages, indexes, references. Throws when something is wrong. */
export function verify(path: string, blame: Blame = ofBackup(path)): void {
  requirePlainFiles([path]);
  const hint = "Name a file that rehome backup made.";
  const pending = examine(path, (db) => checkAll(db, path, migrationsOf.catalogue, hint), blame);
  if (pending.length < migrationsOf.catalogue.length) return;
  throw new AppError("unavailable", `${path} holds no catalogue; it is not a backup.`, { hint });
}

/** Checks all of an open database. Returns the migrations that it lacks. Throws for a fault. */
export function checkAll(
  db: Database,
  path: string,
  migrations: readonly Migration[],
  foreignHint?: string,
): readonly Migration[] {
  const pending = pendingMigrations(db, path, migrations, foreignHint);
  // Before a check that computes what a stranger's schema has.
  refuseForeignSchema(db, path, migrations.slice(0, migrations.length - pending.length));
  checkPages(db, path, "integrity_check");
  checkReferences(db);
  return pending;
}

/**
 * Checks the rules of all tables too: SQLite does not know them in a file that it only reads. Nor
 * may a number be near the greatest one: nothing could be added or changed after it.
 */
export function checkRules(db: Database, blame: Blame): void {
  reportingDamage(blame, () => {
    checkPages(db, blame.what, "quick_check");
    const isSpent = `typeof(seq) <> 'integer' OR seq > ${Number.MAX_SAFE_INTEGER}`;
    const spent = db.query<{ name: string }, []>(
      `SELECT name FROM sqlite_sequence WHERE ${isSpent}`,
    );
    for (const { name } of spent.all()) throw new Damage(`the ids of ${name} are used up`);
    const epochs = db.query(`SELECT 1 FROM key_epoch WHERE epoch > ${Number.MAX_SAFE_INTEGER}`);
    if (epochs.get() !== null) throw new Damage("the numbers of changes of keys are used up");
  });
}

/** Throws for a fault. `quick_check` reads all pages, `integrity_check` also compares indexes. */
function checkPages(db: Database, path: string, check: "quick_check" | "integrity_check"): void {
  const rows = db.query<Record<string, string>, []>(`PRAGMA ${check}(1)`).all();
  const [finding = `${check} of ${path} said nothing`] = Object.values(rows[0] ?? {});
  if (finding !== "ok") throw new Damage(finding.replaceAll("\n", " ").replace(/\.$/, ""));
}

function checkReferences(db: Database): void {
  if (db.query("PRAGMA foreign_key_check").get() !== null) {
    throw new Damage("it has rows with broken references");
  }
}

interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly sql: string | null;
}

/**
 * Throws `unavailable` when the database has a table, trigger, view or index that the migrations
 * `applied` do not make, or lacks one. What a stranger has put there would run in this process.
 */
function refuseForeignSchema(db: Database, path: string, applied: readonly Migration[]): void {
  using own = new Database(":memory:");
  migrate(own, ":memory:", applied);
  const ours = new Map(schemaOf(own).map((each) => [`${each.type} ${each.name}`, each.sql]));
  for (const { type, name, sql } of schemaOf(db)) {
    const known = ours.get(`${type} ${name}`);
    if (known === undefined)
      throw foreign(`${path} has the ${type} ${name}, which is not rehome's.`);
    if (known !== sql) throw foreign(`${path} has another ${type} ${name} than rehome's.`);
    ours.delete(`${type} ${name}`);
  }
  const [missing] = ours.keys();
  if (missing !== undefined) throw foreign(`${path} lacks the ${missing}.`);
}

/** What SQLite keeps for itself, as it makes it: a name alone says nothing of who made a table. */
const ownTables = [
  "sqlite_sequence(name,seq)",
  "sqlite_stat1(tbl,idx,stat)",
  "sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
].map((table) => `CREATE TABLE ${table}`);

/** All but SQLite's own. */
function schemaOf(db: Database): SchemaObject[] {
  return db
    .query<SchemaObject, []>("SELECT type, name, sql FROM sqlite_schema")
    .all()
    .filter(({ type, sql }) =>
      type === "table" ? !ownTables.includes(sql ?? "") : type !== "index" || sql !== null,
    );
}

function foreign(message: string): AppError {
  return new AppError("unavailable", message, {
    hint: "Somebody has changed it. Use another backup, or undo the change.",
  });
}

/** How much is in an open catalogue. */
export function countsIn(db: Database): { readonly animals: number; readonly keys: number } {
  const sql =
    "SELECT (SELECT count(*) FROM pets) AS animals, (SELECT count(*) FROM api_keys) AS keys";
  return db.query<{ animals: number; keys: number }, []>(sql).get() ?? { animals: 0, keys: 0 };
}
