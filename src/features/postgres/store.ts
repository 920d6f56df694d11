import type { ReservedSQL, SQL } from "bun";
import type { Clock } from "../../domain/clock.ts";
import type { Store, StoreCheck, StoreVersions } from "../../storage/contract.ts";
import type { Database } from "../../storage/database.ts";
import { describeAddress, type DatabaseAddress, type DatabaseHost } from "./address.ts";
import {
  closeAtOnce,
  isWritable,
  requireWritable,
  Connections,
  repeatable,
  type Query,
} from "./connections.ts";
import { explainRefusal } from "./failures.ts";
import type { SqliteOptions } from "../../storage/sqlite/store.ts";
import { keyStore } from "../../storage/keys.ts";
import { migrate, postgresMigrations, refuseCopy } from "./migrate.ts";
import { hotReads, PostgresPets } from "./pets.ts";
import { PrimaryFinder } from "./primary.ts";
import { postgresDatabase } from "./transaction.ts";
import { freshMs, type Poll, polled, readVersions, VersionWatch } from "./versions.ts";
import { windowStore } from "./windows.ts";

/** Reads share these connections. Each kind of write has one, and groups what waits for it. */
const readConnections = 4;
/** Reads under way or waiting; above it they are refused at once. */
const readsMax = 2_048;

interface PostgresOptions extends Pick<
  SqliteOptions,
  "timeoutMs" | "onCommit" | "mayMigrate" | "copyOf"
> {
  readonly address: DatabaseAddress;
  readonly onError: (error: unknown) => void;
  /** This machine's clock, to know how far the database's is from it. */
  readonly systemClock: Clock;
  /** In place of the database's clock, for tests that move the time. */
  readonly clock?: Clock | undefined;
  /** How often another process's changes are asked for, in tests; else four times a second. */
  readonly pollMs?: number | undefined;
  /** True for a command: its changes of keys end when they bind every server. */
  readonly waitsForServers?: boolean;
}

/**
 * Connects to the database, and creates or updates its tables. Throws `unavailable`, with a message
 * for the operator, when the database cannot be used.
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { address, timeoutMs } = options;
  const where = describeAddress(address);
  try {
    const primary = new PrimaryFinder(address, timeoutMs);
    const { sql, host } = await primary.find();
    try {
      await migrate(sql, where, postgresMigrations, options);
      if (options.copyOf === undefined) await refuseCopy(sql, where);
      const first = await polled(() => readVersions(sql), options.systemClock);
      return new PostgresStore(options, primary, host, first);
    } finally {
      await closeAtOnce(sql);
    }
  } catch (error) {
    throw explainRefusal(error, where);
  }
}

function openConnections(
  { address, timeoutMs, onError }: PostgresOptions,
  primary: PrimaryFinder,
  host: DatabaseHost,
) {
  const findHost = () => primary.findHost();
  const common = { address, host, findHost, timeoutMs, onLoss: onError };
  const single = { ...common, max: 1, workMax: 256 };
  const writes = {
    ...single,
    prepare: (_: Query, sql: SQL) => ({ sql }),
    ping: ({ sql }: { readonly sql: SQL }) => requireWritable(sql),
  };
  return {
    reads: new Connections({
      ...common,
      max: readConnections,
      workMax: readsMax,
      prepare: (query, sql) => ({ sql, hot: hotReads(query) }),
    }),
    creates: new Connections(writes),
    changes: new Connections(writes),
    longChanges: new Connections(writes),
    // Reserved, so that a transaction cannot go on upon another connection when this one is lost.
    reservations: new Connections<ReservedSQL>({
      ...single,
      prepare: (_, sql) => sql.reserve(),
      ping: requireWritable,
    }),
  };
}

class PostgresStore implements Store {
  readonly place: string;
  readonly started = Promise.resolve();
  readonly db: Database;
  readonly counters: Database;
  readonly pets: Store["pets"];
  readonly keys: Store["keys"];
  readonly windows: Store["windows"];
  readonly #connections: ReturnType<typeof openConnections>;
  readonly #versions: VersionWatch;
  readonly #settled: () => Promise<unknown>;

  constructor(options: PostgresOptions, primary: PrimaryFinder, host: DatabaseHost, first: Poll) {
    const { address, timeoutMs, clock, onCommit = () => {} } = options;
    const connections = openConnections(options, primary, host);
    const { reads } = connections;
    const poll = () =>
      reads.run(async ({ sql }) => {
        // A primary that became a standby goes on answering reads, of an older and older state.
        if (address.hosts.length > 1) await requireWritable(sql);
        if (options.waitsForServers !== true) await primary.mark(sql);
        return readVersions(sql);
      }, repeatable);
    this.#versions = new VersionWatch(poll, options.systemClock, first, options.pollMs);
    this.place = describeAddress(options.address);
    this.#connections = connections;
    const onChange = () => this.#versions.notePets("additions");
    this.db = postgresDatabase(connections, {
      timeoutMs,
      onCommit: ({ pets: change, epoch }) => {
        if (change !== undefined) this.#versions.notePets(change);
        if (epoch !== undefined) this.#versions.noteKeys(epoch);
      },
    });
    this.counters = this.db;
    const { db } = this;
    const pets = new PostgresPets({ ...connections, timeoutMs, onCommit, onChange, db });
    const windows = windowStore(connections.reservations, {
      timeoutMs,
      clock,
      version: () => this.#versions.polls,
      skewMs: () => (clock === undefined ? this.#versions.skewMs() : 0),
    });
    this.pets = pets;
    this.windows = windows;
    this.keys = keyStore(this, {
      // A command ends when every server has polled for what it changed.
      ...(options.waitsForServers === true && { bound: () => Bun.sleep(freshMs + 1) }),
      epochOf: (version) => this.#versions.epochOf(version),
      secretByHash: async (hash) => {
        const [found] = await reads.run(({ hot }) => hot.secret.execute({ hash }), repeatable);
        return found;
      },
    });
    this.#settled = () => Promise.all([pets.settled(), windows.settled()]);
  }

  versions(): StoreVersions {
    return this.#versions.versions();
  }

  current(): Promise<void> | undefined {
    return this.#versions.current();
  }

  /** Creates have another connection. */
  async check(): Promise<StoreCheck[]> {
    const { creates, reads } = this.#connections;
    // Anybody may ask: why not is for `rehome doctor`.
    const unusable = { name: "database", ok: false, detail: "it cannot be used at the moment" };
    // A session that is older may write where a new one of the creates may not.
    if (creates.isLost) return [unusable];
    try {
      const ok = await reads.run(({ sql }) => isWritable(sql), repeatable);
      const detail = ok ? "writable" : "the server does not accept writes";
      return [{ name: "database", ok, detail }];
    } catch {
      return [unusable];
    }
  }

  async close(): Promise<void> {
    await this.#settled();
    await this.#versions.close();
    await Promise.all(Object.values(this.#connections).map((each) => each.close()));
  }
}
