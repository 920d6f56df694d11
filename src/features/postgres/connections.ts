/** Connections to a host of the address, and how long to wait for them. */
import { SQL } from "bun";
import { drizzle, type BunSQLDatabase } from "drizzle-orm/bun-sql";
import type { DatabaseAddress, DatabaseHost } from "./address.ts";
import { AppError } from "../../domain/errors.ts";
import {
  asAppError,
  DeadlineError,
  isConnectionLoss,
  unavailable,
  unwrap,
  ReadOnlyError,
} from "./failures.ts";

/** Pauses between attempts to reach a database that is gone. */
const probePauseMs = { first: 20, max: 250 } as const;
/** A connection that was not used for so long may have been forgotten by a firewall on the way. */
const idleMaxMs = 60_000;

export type Query = BunSQLDatabase;

interface ConnectionsOptions<Session> {
  readonly address: DatabaseAddress;
  /** The first of its hosts to use. */
  readonly host: DatabaseHost;
  /** Finds the one to use after a loss. */
  readonly findHost: () => Promise<DatabaseHost>;
  readonly max: number;
  /** How long a piece of work may take, waiting for a connection included. */
  readonly timeoutMs: number;
  /** Pieces of work that may be under way or wait; above it they are refused at once. */
  readonly workMax: number;
  /** Makes what work needs, such as prepared statements, once for every new set of connections. */
  readonly prepare: (query: Query, sql: SQL) => Session | Promise<Session>;
  /** Finds out whether the database can be used; by default a query on any connection. */
  readonly ping?: (session: Session) => Promise<unknown>;
  readonly onLoss: (error: unknown) => void;
}

interface RunOptions {
  /** True when work that failed with this error may be done again; by default a loss ends it. */
  readonly mayRepeat?: (error: unknown) => boolean;
  /** On the scale of performance.now(); by default `timeoutMs` from now. */
  readonly deadlineMs?: number;
}

/** For reads: they may be done again whatever happened to them. */
export const repeatable: RunOptions = { mayRepeat: () => true };

interface Opened<Session> {
  readonly sql: SQL;
  readonly session: Promise<Session>;
  usedMs: number;
}

/**
 * A few connections for one kind of work. Bun's client pools and reopens them. This class adds
 * deadlines, drops silent connections, bounds the queue, and probes a lost database with one
 * attempt at a time.
 */
export class Connections<Session> {
  readonly #options: ConnectionsOptions<Session>;
  #opened: Opened<Session> | undefined;
  #host: DatabaseHost;
  #recovery: Promise<void> | undefined;
  /** When the work began with which the loss was noticed. */
  #lostMs = 0;
  #work = 0;
  #isClosed = false;

  constructor(options: ConnectionsOptions<Session>) {
    this.#options = options;
    this.#host = options.host;
  }

  /** True while the database is gone for this kind of work. */
  get isLost(): boolean {
    return this.#recovery !== undefined;
  }

  /** Runs `work`. Throws AppError `unavailable` when it cannot be done in time. */
  async run<T>(work: (session: Session) => Promise<T>, options: RunOptions = {}): Promise<T> {
    const { timeoutMs, workMax } = this.#options;
    if (this.#work >= workMax) throw unavailable("The store is overloaded at the moment.");
    const startMs = performance.now();
    const deadlineMs = options.deadlineMs ?? startMs + timeoutMs;
    this.#work += 1;
    try {
      return await this.#runUntil(deadlineMs, startMs, work, options.mayRepeat ?? (() => false));
    } catch (error) {
      throw asAppError(error);
    } finally {
      this.#work -= 1;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#closeOpened();
    await this.#recovery;
    // A recovery that was under way may have opened some.
    await this.#closeOpened();
  }

  async #closeOpened(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    if (opened !== undefined) await closeAtOnce(opened.sql);
  }

  async #runUntil<T>(
    deadlineMs: number,
    startMs: number,
    work: (session: Session) => Promise<T>,
    mayRepeat: (error: unknown) => boolean,
  ): Promise<T> {
    for (;;) {
      if (this.#recovery !== undefined) await this.#awaitRecovery(deadlineMs);
      const opened = this.#use();
      try {
        return await before(deadlineMs, opened.session.then(work));
      } catch (caught) {
        const error = unwrap(caught);
        const isLate = error instanceof DeadlineError;
        if (!isLate && !isConnectionLoss(error)) throw error;
        this.#recover(opened, startMs, error);
        if (isLate || !mayRepeat(error)) throw error;
      }
    }
  }

  /**
   * Waits for the database, unless it has been gone for so long that the request would time out.
   * No work waits longer than that, however long it may take.
   */
  #awaitRecovery(deadlineMs: number): Promise<void> {
    const { timeoutMs } = this.#options;
    if (performance.now() - this.#lostMs >= timeoutMs)
      throw unavailable("The store cannot be reached at the moment.");
    const latestMs = performance.now() + timeoutMs;
    return before(Math.min(deadlineMs, latestMs), this.#recovery as Promise<void>);
  }

  #use(): Opened<Session> {
    if (this.#isClosed) throw unavailable("The store is closed.");
    const nowMs = performance.now();
    if (this.#opened !== undefined && this.#work === 1 && nowMs - this.#opened.usedMs > idleMaxMs) {
      void closeAtOnce(this.#opened.sql);
      this.#opened = undefined;
    }
    this.#opened ??= this.#open(this.#host);
    this.#opened.usedMs = nowMs;
    return this.#opened;
  }

  #open(host: DatabaseHost): Opened<Session> {
    const { address, max, timeoutMs, prepare } = this.#options;
    const sql = connect(address, { host, max, timeoutMs });
    const session = Promise.resolve(prepare(drizzle({ client: sql }), sql));
    session.catch(() => {});
    return { sql, session, usedMs: performance.now() };
  }

  /** Drops these connections and tries for new ones until there are some. */
  #recover(lost: Opened<Session>, startMs: number, error: unknown): void {
    if (this.#opened !== lost) return;
    this.#opened = undefined;
    void closeAtOnce(lost.sql);
    this.#lostMs = startMs;
    this.#options.onLoss(error);
    this.#recovery = this.#probe().finally(() => {
      this.#recovery = undefined;
    });
  }

  async #ping({ sql, session }: Opened<Session>): Promise<void> {
    const { address, ping } = this.#options;
    if (ping !== undefined) await ping(await session);
    // A read at a standby would be of any moment.
    else if (address.hosts.length > 1) await requireWritable(sql);
    else await sql`SELECT 1`;
  }

  async #probe(): Promise<void> {
    const { timeoutMs, findHost, onLoss } = this.#options;
    let pauseMs: number = probePauseMs.first;
    let told: string | undefined;
    while (!this.#isClosed) {
      let attempt: Opened<Session> | undefined;
      try {
        const host = await findHost();
        // It throws for what the address names, such as a certificate's file that is gone.
        attempt = this.#open(host);
        await before(performance.now() + timeoutMs, this.#ping(attempt));
        this.#opened = attempt;
        this.#host = host;
        return;
      } catch (error) {
        if (attempt !== undefined) await closeAtOnce(attempt.sql);
        // What waits for an operator, such as an old primary that is back.
        if (error instanceof AppError && error.message !== told) onLoss(error);
        if (error instanceof AppError) told = error.message;
      }
      await Bun.sleep(pauseMs);
      pauseMs = Math.min(pauseMs * 2, probePauseMs.max);
    }
  }
}

export type Runner<Session> = Pick<Connections<Session>, "run">;

type ConnectOptions = Pick<ConnectionsOptions<unknown>, "host" | "max" | "timeoutMs">;

/** One connection or several to a host of `address`, opened when the first statement needs them. */
export function connect(address: DatabaseAddress, { host, max, timeoutMs }: ConnectOptions): SQL {
  const { socketFolder } = host;
  return new SQL({
    adapter: "postgres",
    ...(socketFolder === undefined ? { hostname: host.host } : { path: socketFolder }),
    port: host.port,
    username: address.user,
    password: address.password,
    database: address.database,
    tls: socketFolder === undefined ? tlsOf(address) : "disable",
    channelBinding: address.channelBinding,
    connection: address.startup,
    max,
    connectionTimeout: timeoutMs / 1000,
    // int64 stays exact.
    bigint: true,
  });
}

function tlsOf(address: DatabaseAddress): NonNullable<SQL.PostgresOrMySQLOptions["tls"]> {
  const { sslMode, sslRootCert, sslCert, sslKey } = address;
  if (sslMode === "disable") return "disable";
  const isVerified = sslMode !== "require";
  return {
    // Said outright, because NODE_TLS_REJECT_UNAUTHORIZED=0 would switch it off.
    rejectUnauthorized: isVerified,
    ...(sslMode === "verify-ca" ? { checkServerIdentity: () => undefined } : {}),
    ...(sslRootCert === undefined ? {} : { caFile: sslRootCert }),
    ...(sslCert === undefined ? {} : { certFile: sslCert }),
    ...(sslKey === undefined ? {} : { keyFile: sslKey }),
  };
}

export async function closeAtOnce(sql: SQL): Promise<void> {
  // It is not used any more either way.
  await sql.close({ timeout: 0 }).catch(() => {});
}

/** What `promise` resolves to, or DeadlineError when it takes longer. */
export async function before<T>(deadlineMs: number, promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new DeadlineError("the database did not answer in time")),
    Math.max(0, deadlineMs - performance.now()),
  );
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
    // Whichever comes second is nobody's any more.
    promise.catch(() => {});
  }
}

/** Whether the server accepts writes. Rejects when it does not answer. */
export async function isWritable(sql: SQL): Promise<boolean> {
  const [row] = (await sql`
    SELECT NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off'
      AS "isWritable"`) as [{ isWritable: boolean }];
  return row.isWritable;
}

/** Rejects where a write would only lose the connection again, such as at a standby. */
export async function requireWritable(sql: SQL): Promise<void> {
  if (!(await isWritable(sql))) throw new ReadOnlyError("the server does not accept writes");
}
