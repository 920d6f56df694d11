import type { Database as Connection } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { count } from "drizzle-orm";
import type { CommitReport, Store, StoreCheck, StoreVersions } from "../contract.ts";
import { GroupCommit } from "../group-commit.ts";
import { keyStore } from "../keys.ts";
import { createdRow } from "../pet-row.ts";
import { olderSchema } from "../migration-history.ts";
import { backupBefore } from "./backup.ts";
import { patientWork } from "../database.ts";
import { busyTimeoutMs, notOpened, openDatabase, translating } from "./connection.ts";
import { inMemory, migrationsOf, storeFiles } from "./files.ts";
import { makePrivate, prepareFolder, freeBytes } from "./folder.ts";
import { inspectFolder, migrate } from "./migrate.ts";
import { hotReads, insertPet } from "./pets.ts";
import { addAllOnce, SqliteDatabase } from "./transaction.ts";
import { FileWatch, VersionReader } from "./watch.ts";
import { windowStore, type WindowStoreOptions } from "./windows.ts";
import { Writer } from "./writer.ts";
import { AppError } from "../../domain/errors.ts";
import type { Lanes } from "./lanes.ts";

/** Pages of 1 KiB: a reservation dirties one or two, and a smaller page is less to write for it. */
const limitsPageSizeBytes = 1_024;

export interface SqliteOptions extends WindowStoreOptions {
  /** The data folder, or ":memory:" for a store that ends with the process. */
  readonly folder: string;
  /** True in a server: changes go through the writer thread, and no statement may block. */
  readonly serving: boolean;
  /** False for a command that must not change the schema of a store; true if not given. */
  readonly mayMigrate?: boolean | undefined;
  /**
   * Where the command copies from that fills this store. A new store then has the mark of a copy
   * from its first transaction on, and all others refuse a part of a copy.
   */
  readonly copyOf?: string | undefined;
  readonly onProblem?: (error: unknown) => void;
  readonly onBackup?: (file: string) => void;
  readonly onCommit?: (report: CommitReport) => void;
}

/** Opens the databases of a data folder. Makes missing ones, and updates older schemas. */
export function openSqliteStore(options: SqliteOptions): SqliteStore {
  return options.folder === inMemory ? openTemporary(options) : openFolder(options);
}

/** A store that ends when it is closed: nothing in it needs to outlive the machine. */
function openTemporary(options: SqliteOptions): SqliteStore {
  const folder = mkdtempSync(join(tmpdir(), "rehome-"));
  try {
    return openFolder({ ...options, folder }, true);
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
}

function openFolder(options: SqliteOptions, isTemporary = false): SqliteStore {
  try {
    const files = storeFiles(options.folder);
    if (!isTemporary) prepare(options, files);
    using opened = new DisposableStack();
    const open = (...args: Parameters<typeof openDatabase>) => opened.use(openDatabase(...args));
    const catalogue = open(files.catalogue, { synchronous: isTemporary ? "off" : "full" });
    const limits = open(files.limits, {
      synchronous: isTemporary ? "off" : "normal",
      pageSizeBytes: limitsPageSizeBytes,
    });
    migrate(catalogue, files.catalogue, migrationsOf.catalogue, options.copyOf);
    migrate(limits, files.limits, migrationsOf.limits);
    const store = new SqliteStore({ ...options, isTemporary }, catalogue, limits);
    opened.move();
    return store;
  } catch (error) {
    throw notOpened(options.folder, error);
  }
}

/**
 * Refuses what must not be opened before anything is written, and keeps a copy of each database
 * that a migration will change: an older program refuses the changed one.
 */
function prepare(
  { folder, onBackup, copyOf, mayMigrate = true }: SqliteOptions,
  files: ReturnType<typeof storeFiles>,
): void {
  prepareFolder(folder);
  const pending = inspectFolder(files, copyOf !== undefined);
  for (const name of ["catalogue", "limits"] as const) {
    const [next, ...later] = pending[name];
    if (next === undefined || later.length + 1 === migrationsOf[name].length) continue;
    if (!mayMigrate) throw olderSchema(files[name]);
    onBackup?.(backupBefore(files[name], next.tag));
  }
  for (const file of Object.values(files)) makePrivate(file);
}

type StoreOptions = SqliteOptions & { readonly isTemporary: boolean };

class SqliteStore implements Store {
  readonly place: string;
  readonly started: Promise<void>;
  readonly db: SqliteDatabase;
  readonly counters: SqliteDatabase;
  /** The catalogue for `/ready`, which waits for no transaction of this process. */
  readonly #probed: SqliteDatabase;
  readonly pets: Store["pets"];
  readonly keys: Store["keys"];
  readonly windows: ReturnType<typeof windowStore>;
  readonly #options: StoreOptions;
  readonly #catalogue: Connection;
  readonly #limits: Connection;
  readonly #writer: Writer | undefined;
  readonly #watch: FileWatch | undefined;
  readonly #versions: VersionReader;

  constructor(options: StoreOptions, catalogue: Connection, limits: Connection) {
    this.#options = options;
    this.#catalogue = catalogue;
    this.#limits = limits;
    const { folder, serving } = options;
    this.place = options.isTemporary ? inMemory : folder;
    const files = storeFiles(folder);
    catalogue.run("PRAGMA query_only = ON");
    limits.run("PRAGMA busy_timeout = 0");
    if (serving) {
      catalogue.run("PRAGMA busy_timeout = 0");
      // The writer thread checkpoints; a commit on this one must not stop to do it.
      limits.run("PRAGMA wal_autocheckpoint = 0");
      this.#watch = new FileWatch(Object.values(files), (error) => options.onProblem?.(error));
      this.#writer = this.#newWriter();
    }
    this.started = this.#writer?.start() ?? Promise.resolve();
    this.#versions = new VersionReader(catalogue);
    this.db = this.#database(files.catalogue, "full");
    this.counters = this.#database(files.limits, "normal");
    this.#probed = this.#database(files.catalogue, "full");
    const reads = hotReads(catalogue);
    this.keys = keyStore(this, { secretByHash: reads.secret, patience: patientWork });
    this.pets = this.#petStore(reads);
    const checkpoint = () => this.#writer?.tell({ type: "checkpoint" });
    this.windows = windowStore(limits, options, checkpoint);
  }

  versions(): StoreVersions {
    this.#requireFiles();
    return translating(() => this.#versions.read());
  }

  async check(): Promise<StoreCheck[]> {
    if (this.#watch?.look() !== undefined) {
      return [{ name: "files", ok: false, detail: "they were moved, removed or replaced" }];
    }
    return [
      await attempt("catalogue", () => this.#probeCatalogue()),
      await attempt("limits", () => probe(this.counters, this.windows.hasFailed)),
      freeSpace(this.#options.folder),
    ];
  }

  /** A write is worth trying only if the last create failed. */
  async #probeCatalogue(): Promise<void> {
    await probe(this.#probed, this.#writer?.hasFailed === true);
    if (this.#writer !== undefined) this.#writer.hasFailed = false;
  }

  async close(): Promise<void> {
    try {
      await Promise.all([this.db, this.counters, this.#probed].map((each) => each.close()));
      await this.#writer?.close();
    } finally {
      this.#watch?.close();
      // The last connection to close checkpoints, and removes the logs.
      this.#catalogue.close(true);
      this.#limits.close(true);
      const { folder, isTemporary } = this.#options;
      if (isTemporary) rmSync(folder, { recursive: true });
    }
    this.#requireFiles();
  }

  #database(path: string, synchronous: "full" | "normal"): SqliteDatabase {
    const { serving, timeoutMs, isTemporary } = this.#options;
    return new SqliteDatabase({
      open: () =>
        openDatabase(path, { synchronous: isTemporary ? "off" : synchronous, busyTimeoutMs: 0 }),
      timeoutMs: serving ? timeoutMs : busyTimeoutMs,
      onBegin: () => this.#requireFiles(),
      // What is read after it must see it.
      onCommit: () => this.#versions.expire(),
    });
  }

  #newWriter(): Writer {
    const { folder, timeoutMs, onProblem, onCommit } = this.#options;
    return new Writer({
      open: { ...storeFiles(folder), insertPet, busyTimeoutMs: timeoutMs },
      onProblem: (error) => onProblem?.(error),
      onCommit: (report) => {
        // A list that is asked for after the 201 must hold the animal.
        this.#versions.expire();
        onCommit?.(report);
        // Nobody finds the animal again if its file is gone: then the creates fail.
        this.#watch?.look();
        this.#requireFiles();
      },
    });
  }

  /** Throws `unavailable` while what is stored would be in files that nobody finds again. */
  #requireFiles(): void {
    if (this.#watch?.lost !== undefined) throw this.#watch.lost;
  }

  #petStore({ page, byId }: ReturnType<typeof hotReads>): Store["pets"] {
    const { creates, onceCreates } = this.#writer ?? this.#ownWriter();
    return {
      page,
      byId,
      count: async () => {
        const [found] = await this.db.read((tx) => tx.select({ pets: count() }).from(tx.t.pets));
        return found?.pets ?? 0;
      },
      create: (pet, signal) => creates.add(pet, signal),
      createOnce: (create) => onceCreates.add(create),
    };
  }

  /** Creates on this thread, in a process without the writer thread. */
  #ownWriter(): Pick<Writer, "creates" | "onceCreates"> {
    return {
      creates: new GroupCommit((pets) => this.db.insertAll(insertPet, pets.map(createdRow))),
      onceCreates: new GroupCommit((creates) => addAllOnce(this.db.writes, creates)),
    };
  }
}

/**
 * With less than this the next commit may fail. `rehome doctor` warns far earlier. A readiness
 * check must not, because the server still works.
 */
const freeMinBytes = 1024 * 1024;

/** What `/ready` says. It is public: no path, and no message of a library. */
const reasons: readonly (readonly [prefix: string, reason: string])[] = [
  ["SQLITE_FULL", "no space is left on the disk"],
  ["SQLITE_BUSY", "another process has held its lock for too long"],
  ["SQLITE_READONLY", "it is read-only"],
  ["SQLITE_CORRUPT", "it is damaged"],
  ["SQLITE_NOTADB", "it is damaged"],
  ["SQLITE_IOERR", "the disk reports an error"],
];

async function attempt(name: string, work: () => unknown): Promise<StoreCheck> {
  try {
    await work();
    return { name, ok: true, detail: "writable" };
  } catch (error) {
    const sqliteError = error instanceof AppError ? error.cause : error;
    const { code = "" } = sqliteError as { code?: string };
    const [, reason = "it cannot be written"] =
      reasons.find(([prefix]) => code.startsWith(prefix)) ?? [];
    return { name, ok: false, detail: reason };
  }
}

/** Takes and leaves the write lock; with `write` it also commits a page that changes nothing. */
async function probe(db: Lanes, write: boolean): Promise<void> {
  await db.writes.committed((prepare) => {
    // Nothing uses this number. For a row that is set to what it is, SQLite writes no page.
    if (write) prepare("PRAGMA user_version = 0").run();
  });
}

function freeSpace(folder: string): StoreCheck {
  const ok = freeBytes(folder) >= freeMinBytes;
  const detail = ok ? "has room" : "no space is left on the disk";
  return { name: "disk", ok, detail };
}
