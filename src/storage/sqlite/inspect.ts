import { constants, Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { AppError } from "../../domain/errors.ts";
import type { Migration } from "../migrations.macro.ts";
import { busyTimeoutMs, isDamaged } from "./database.ts";
import { fileRemedy, mayWrite, ownership } from "./folder.ts";
import { pendingMigrations } from "./migrate.ts";

/** A database up to this size is read through at each start (some 50 ms); `rehome backup` reads any of them through. */
const checkedMaxBytes = 32 * 1024 * 1024;

/** How often a database that looks damaged is looked at. */
const attempts = 3;
const attemptPauseMs = 20;

/** Whose damage it is, and what to do about it. */
export interface Blame {
  /** The subject of the sentence that says so. */
  readonly what: string;
  readonly hint: string;
}

/** The blame of a database that is in use. */
const ofStore = (path: string): Blame => ({
  what: path,
  hint: "Restore a backup with rehome restore FILE, or move the file away to begin anew.",
});

/**
 * Looks at a database before it is opened for writing, and leaves it as it is. Returns the migrations that it lacks: all of
 * them where there is no database yet. Throws `unavailable` where it is damaged, not ours, newer, or cannot be written.
 */
export function inspect(path: string, migrations: readonly Migration[]): readonly Migration[] {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined) return migrations;
  if ((file.mode & 0o200) === 0 || !mayWrite(path)) {
    throw new AppError("unavailable", `${path} is read-only: it ${ownership(path)}.`, {
      hint: fileRemedy(path),
    });
  }
  if (file.size === 0) return migrations;
  const isWhole = file.size <= checkedMaxBytes;
  return examine(path, (db) => {
    const pending = pendingMigrations(db, path, migrations);
    if (isWhole) checkPages(db, path, "quick_check");
    return pending;
  });
}

/** Runs `look` on the database, opened so that nothing of it changes. Throws `unavailable` where it is damaged. */
export function examine<T>(path: string, look: (db: Database) => T, blame = ofStore(path)): T {
  for (let attempt = 1; ; attempt += 1) {
    const walBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    try {
      // Without a log nobody need be asked for a lock, and nothing is left beside the file.
      return withDatabase(path, walBytes === 0 ? "immutable=1" : "mode=ro", look);
    } catch (error) {
      if (!isDamaged(error) && !(error instanceof Damage)) throw error;
      if (attempt === attempts) throw asDamage(blame, error);
      // Without a lock, what another process was just writing looks like damage.
      Bun.sleepSync(attemptPauseMs);
    }
  }
}

function withDatabase<T>(path: string, how: string, look: (db: Database) => T): T {
  const address = resolve(path).split("/").map(encodeURIComponent).join("/");
  const db = new Database(
    `file:${address}?${how}`,
    constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI,
  );
  try {
    db.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    return look(db);
  } finally {
    db.close();
  }
}

/** What SQLite found wrong with a database. */
class Damage extends Error {}

function asDamage({ what: whose, hint }: Blame, error: unknown): AppError {
  const { code, message } = error as Error & { code?: string };
  const what =
    code === "SQLITE_NOTADB"
      ? "is not an SQLite database, or its beginning is damaged"
      : `is damaged: ${message}`;
  return new AppError("unavailable", `${whose} ${what}.`, { cause: error, hint });
}

/** What `work` returns. Where it finds the database at `path`, which is in use, damaged, throws `unavailable`. */
export function reportingDamage<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw isDamaged(error) ? asDamage(ofStore(path), error) : error;
  }
}

/** Throws where SQLite's own check finds a fault. `quick_check` reads all pages, `integrity_check` compares indexes too. */
export function checkPages(
  db: Database,
  path: string,
  check: "quick_check" | "integrity_check",
): void {
  const rows = db.query<Record<string, string>, []>(`PRAGMA ${check}(1)`).all();
  const [finding = `${check} of ${path} said nothing`] = Object.values(rows[0] ?? {});
  if (finding !== "ok") throw new Damage(finding.replaceAll("\n", " ").replace(/\.$/, ""));
}

/** Throws where a row refers to one that is not there. */
export function checkReferences(db: Database): void {
  if (db.query("PRAGMA foreign_key_check").get() !== null) {
    throw new Damage("it has rows that refer to nothing");
  }
}
