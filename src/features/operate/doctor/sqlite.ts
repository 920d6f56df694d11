import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { AppError } from "../../../domain/errors.ts";
import { windowMs } from "../../../domain/windows.ts";
import type { Migration } from "../../../storage/migrations.macro.ts";
import { migrationsOf, storeFiles } from "../../../storage/sqlite/files.ts";
import {
  checkPages,
  checkReferences,
  examine,
  limitsAdvice,
  ofStore,
} from "../../../storage/sqlite/inspect.ts";
import { pendingMigrations, refuseForeignSchema } from "../../../storage/sqlite/migrate.ts";

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
  /** Why it cannot be used, where that is so. */
  readonly problem: AppError | undefined;
}

interface Question {
  readonly name: Diagnosis["name"];
  readonly path: string;
  readonly migrations: readonly Migration[];
  /** One row: `newest`, in `unitMs`. */
  readonly sql: string;
  readonly unitMs: number;
  /** What to do about damage, where that is not a restore. */
  readonly advice?: string;
}

/** Looks at both databases of a data folder, through and through. They may be in use. */
export function diagnose(folder: string): Diagnosis[] {
  const files = storeFiles(folder);
  return [
    examined({
      name: "catalogue",
      path: files.catalogue,
      migrations: migrationsOf.catalogue,
      sql: "SELECT max(at_ms) AS newest FROM key_events",
      unitMs: 1,
    }),
    examined({
      name: "limits",
      path: files.limits,
      migrations: migrationsOf.limits,
      sql: "SELECT max(minute_label) AS newest FROM rate_windows",
      unitMs: windowMs.minute,
      advice: limitsAdvice,
    }),
  ];
}

function examined({ name, path, migrations, sql, unitMs, advice }: Question): Diagnosis {
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size;
  const fileBytes = sizeOf(path);
  const bytes = fileBytes === undefined ? undefined : fileBytes + (sizeOf(`${path}-wal`) ?? 0);
  const unknown = { name, path, bytes, pending: [], newestMs: 0, problem: undefined };
  if (bytes === undefined || bytes === 0) return unknown;
  try {
    const look = (db: Database) => {
      const pending = pendingMigrations(db, path, migrations).map(({ tag }) => tag);
      checkPages(db, path, "integrity_check");
      refuseForeignSchema(db, path, migrations.slice(0, migrations.length - pending.length));
      checkReferences(db);
      // Nothing to ask where a first start was cut short.
      if (pending.length === migrations.length) return { ...unknown, pending };
      const row = db.query<{ newest: number | null }, []>(sql).get();
      return { ...unknown, pending, newestMs: (row?.newest ?? 0) * unitMs };
    };
    return examine(path, look, ofStore(path, advice));
  } catch (error) {
    return { ...unknown, problem: problemOf(error, path) };
  }
}

function problemOf(error: unknown, path: string): AppError {
  if (error instanceof AppError) return error;
  const { message } = error as Error;
  return new AppError("unavailable", `${path} cannot be read: ${message}.`, {
    cause: error,
    hint: "Check the owner of the file, and that no other program locks it.",
  });
}
