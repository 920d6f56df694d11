/**
 * Which of several hosts is the primary. After a failover the old one may come back and accept
 * writes, of an older state: whoever it serves sees animals vanish, and revoked keys let in again.
 * Each promotion begins a timeline with a greater number, so the greatest one counts.
 */
import type { SQL } from "bun";
import { AppError } from "../../domain/errors.ts";
import { timelineMark } from "../meta.ts";
import { describeHost, type DatabaseAddress, type DatabaseHost } from "./address.ts";
import { before, closeAtOnce, connect } from "./connections.ts";
import { ReadOnlyError } from "./failures.ts";
import { metaOf } from "./migrate.ts";

/** A timeline of one cluster. Those of another cluster say nothing about it. */
interface Timeline {
  readonly cluster: string;
  readonly number: number;
}

/** A host, and what it says of itself. */
interface Looked {
  readonly host: DatabaseHost;
  readonly sql: SQL;
  readonly isWritable: boolean;
  /** The same for two names of one server, such as of two poolers. */
  readonly instance: string;
  /** Its own, and that of its store's mark. */
  readonly timelines: readonly [own: Timeline, mark?: Timeline];
}

interface Primary {
  readonly host: DatabaseHost;
  /** A connection to it. */
  readonly sql: SQL;
  /** Others that accept writes though they should not. */
  readonly rivals: readonly DatabaseHost[];
}

/** Finds the primary, and remembers the greatest timeline that it has seen. */
export class PrimaryFinder {
  readonly #address: DatabaseAddress;
  readonly #timeoutMs: number;
  #seen: Timeline | undefined;
  #marked: Timeline | undefined;
  #finding: Promise<DatabaseHost> | undefined;

  constructor(address: DatabaseAddress, timeoutMs: number) {
    this.#address = address;
    this.#timeoutMs = timeoutMs;
  }

  /** Rejects with the last host's failure when there is none. */
  async find(): Promise<Primary> {
    const { hosts } = this.#address;
    const open = (host: DatabaseHost) =>
      connect(this.#address, { host, max: 1, timeoutMs: this.#timeoutMs });
    const [only, ...more] = hosts;
    // What the connection is for shows whether it accepts writes.
    if (more.length === 0) return { host: only, sql: open(only), rivals: [] };
    const asked = await Promise.allSettled(hosts.map((host) => this.#ask(host, open(host))));
    const looked = asked.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    const found = this.#choose(looked);
    await Promise.all(looked.filter((each) => each !== found).map(({ sql }) => closeAtOnce(sql)));
    if (found === undefined) throw failureOf(asked, looked, this.#seen);
    const { instance } = found;
    const rivals = looked.filter(({ isWritable, instance: its }) => isWritable && its !== instance);
    return { ...found, rivals: rivals.map(({ host }) => host) };
  }

  /** Leaves the timeline in the store, once: a standby of it has that mark too. */
  async mark(sql: SQL): Promise<void> {
    if (this.#seen === undefined || this.#marked === this.#seen) return;
    const seen = this.#seen;
    const { cluster, number } = seen;
    await sql`
      INSERT INTO rehome.store_state (name, value)
      VALUES (${timelineMark}, ${`${cluster} ${number}`})
      ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
    this.#marked = seen;
  }

  /** The primary's host. Whoever asks meanwhile waits for the same answer. */
  findHost(): Promise<DatabaseHost> {
    const { hosts } = this.#address;
    if (hosts.length === 1) return Promise.resolve(hosts[0]);
    const find = async () => {
      const { host, sql } = await this.find();
      await closeAtOnce(sql);
      return host;
    };
    this.#finding ??= find().finally(() => (this.#finding = undefined));
    return this.#finding;
  }

  async #ask(host: DatabaseHost, sql: SQL): Promise<Looked> {
    try {
      // All of them are waited for: the one that answers first may be the old one.
      const deadlineMs = performance.now() + this.#timeoutMs / this.#address.hosts.length;
      return { host, sql, ...(await before(deadlineMs, stateOf(sql))) };
    } catch (error) {
      await closeAtOnce(sql);
      throw error;
    }
  }

  /** The writable host with the greatest timeline, if none was ever greater. */
  #choose(looked: readonly Looked[]): Looked | undefined {
    const numberOf = ({ timelines }: Looked) => timelines[0].number;
    const found = looked
      .filter(({ isWritable }) => isWritable)
      .toSorted((a, b) => numberOf(b) - numberOf(a))[0];
    if (found === undefined) return undefined;
    const [own] = found.timelines;
    const known = [...looked.flatMap(({ timelines }) => timelines), this.#seen];
    const isOld = known.some((each) => each?.cluster === own.cluster && each.number > own.number);
    // A running server has no reason to go on in another cluster.
    const isOther = this.#seen !== undefined && this.#seen.cluster !== own.cluster;
    if (isOld || isOther) return undefined;
    if (this.#seen?.number !== own.number) this.#seen = own;
    return found;
  }
}

/** Why there is no primary among the hosts. */
function failureOf(
  asked: readonly PromiseSettledResult<Looked>[],
  looked: readonly Looked[],
  seen: Timeline | undefined,
): unknown {
  const old = looked.find(({ isWritable }) => isWritable);
  if (old !== undefined) {
    const [own] = old.timelines;
    const why = seen === undefined || seen.cluster === own.cluster ? "an old" : "another cluster's";
    return new AppError(
      "unavailable",
      `${describeHost(old.host)} accepts writes, but is ${why} primary (timeline ${own.number}).`,
      {
        code: "oldPrimary",
        hint: "Start the newer primary. Stop the old one, and make it a standby of the newer one.",
      },
    );
  }
  const failed = asked.findLast((each) => each.status === "rejected");
  if (looked.length === 0 && failed !== undefined) return failed.reason;
  return new ReadOnlyError("the server does not accept writes");
}

async function stateOf(sql: SQL): Promise<Omit<Looked, "host" | "sql">> {
  // The name of the log that is written has the timeline at once after a promotion; the control
  // file has it from the next checkpoint on.
  const [row] = (await sql`
    SELECT NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off'
        AS "isWritable",
      (SELECT system_identifier FROM pg_control_system())::text AS cluster,
      pg_postmaster_start_time()::text AS instance,
      CASE WHEN pg_is_in_recovery() THEN (SELECT timeline_id FROM pg_control_checkpoint())
        ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int END AS number,
      to_regclass('rehome.store_state') IS NOT NULL AS "hasMarks"`) as [
    {
      isWritable: boolean;
      cluster: string;
      instance: string;
      number: number;
      hasMarks: boolean;
    },
  ];
  const { isWritable, instance, cluster, number, hasMarks } = row;
  const own = { cluster, number };
  const mark = hasMarks ? await metaOf(sql, timelineMark) : undefined;
  if (mark === undefined) return { isWritable, instance, timelines: [own] };
  const [of = "", marked] = mark.split(" ");
  return { isWritable, instance, timelines: [own, { cluster: of, number: Number(marked) }] };
}
