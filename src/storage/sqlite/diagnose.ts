import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { AppError } from "../../domain/errors.ts";
import { windowMs } from "../../domain/windows.ts";
import type { Migration } from "../migrations.macro.ts";
import { asAppError } from "./database.ts";
import { catalogueMigrations, limitsMigrations, storeFiles } from "./files.ts";
import { checkPages, examine } from "./inspect.ts";
import { pendingMigrations } from "./migrate.ts";

/** What is known of a database without changing anything of it. */
export interface Diagnosis {
  readonly name: "catalogue" | "limits";
  readonly path: string;
  /** With the log beside it. Undefined when there is no such file yet. */
  readonly bytes: number | undefined;
  /** Migrations that the next start will apply. */
  readonly pending: readonly string[];
  /** The newest time that it holds, or 0. */
  readonly newestMs: number;
  readonly rows: number;
  /** Why it cannot be used, where that is so. */
  readonly problem: AppError | undefined;
}

interface Question {
  readonly name: Diagnosis["name"];
  readonly path: string;
  readonly migrations: readonly Migration[];
  /** One row: `newest` in `unitMs`, and `rows`. */
  readonly sql: string;
  readonly unitMs: number;
}

/** Looks at both databases of a data folder, through and through. They may be in use. */
export function diagnose(folder: string): Diagnosis[] {
  const files = storeFiles(folder);
  return [
    examined({
      name: "catalogue",
      path: files.catalogue,
      migrations: catalogueMigrations,
      sql: "SELECT (SELECT max(at_ms) FROM key_events) AS newest, (SELECT count(*) FROM api_keys) AS rows",
      unitMs: 1,
    }),
    examined({
      name: "limits",
      path: files.limits,
      migrations: limitsMigrations,
      sql: "SELECT max(minute_label) AS newest, count(*) AS rows FROM rate_windows",
      unitMs: windowMs.minute,
    }),
  ];
}

function examined({ name, path, migrations, sql, unitMs }: Question): Diagnosis {
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size;
  const fileBytes = sizeOf(path);
  const bytes = fileBytes === undefined ? undefined : fileBytes + (sizeOf(`${path}-wal`) ?? 0);
  const unknown = { name, path, bytes, pending: [], newestMs: 0, rows: 0, problem: undefined };
  if (bytes === undefined || bytes === 0) return unknown;
  try {
    return examine(path, (db) => {
      const pending = pendingMigrations(db, path, migrations).map(({ tag }) => tag);
      checkPages(db, path, "integrity_check");
      checkReferences(db, path);
      const row = db.query<{ newest: number | null; rows: number }, []>(sql).get();
      return {
        ...unknown,
        pending,
        newestMs: (row?.newest ?? 0) * unitMs,
        rows: row?.rows ?? 0,
      };
    });
  } catch (error) {
    return { ...unknown, problem: problemOf(error, path) };
  }
}

function checkReferences(db: Database, path: string): void {
  if (db.query("PRAGMA foreign_key_check").get() === null) return;
  throw new AppError("unavailable", `${path} is damaged: it has rows that refer to nothing.`, {
    hint: "Restore a backup with rehome restore FILE.",
  });
}

function problemOf(error: unknown, path: string): AppError {
  if (error instanceof AppError) return error;
  const { message } = error as Error;
  const known = asAppError(error);
  return new AppError("unavailable", `${path} cannot be read: ${message}.`, {
    cause: known,
    hint: "See whose the file is, and that no other program holds it.",
  });
}
