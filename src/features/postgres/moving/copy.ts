/** Everything in a store, table by table, from one place to another, and compared on both sides. */
import { jobName, removeJob } from "../../schedule/jobs.ts";
import { getTableName, type SQL, sql } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import { AppError } from "../../../domain/errors.ts";
import { jsonText } from "../../../domain/exact-json.ts";
import type { Store } from "../../../storage/contract.ts";
import {
  changePets,
  columnsOf,
  type Database,
  nextEpoch,
  type Tables,
  type Tx,
  copyMark,
  getMeta,
  movedMark,
} from "../../../storage/database.ts";
import { longWork } from "../../long-work.ts";
import { schemaName } from "../../../storage/schema.postgres.ts";
import { deleteMeta, goesAlong, setMeta } from "../../meta.ts";

const batchRows = 2_000;

type TableName = keyof Tables;

/** A table that moves: what its rows are called, and the properties of its key. */
interface Moved {
  readonly table: TableName;
  readonly title: string;
  readonly key: readonly string[];
}

const moved = (table: TableName, title: string, ...key: string[]): Moved => ({ table, title, key });

/** The tables that move. Each refers only to those before it, and the largest is the last. */
export const movedTables: readonly Moved[] = [
  moved("rateWindows", "counters", "keyId"),
  moved("usageDays", "days of usage", "keyId", "day"),
  moved("categories", "categories", "id"),
  moved("categoryWords", "names of categories in lists", "nameKey", "changeId"),
  moved("apiKeys", "keys", "id"),
  moved("keySecrets", "secrets' hashes", "hash"),
  moved("keyEvents", "keys' events", "id"),
  moved("people", "people", "id"),
  moved("sources", "followed lists", "name"),
  moved("schedule", "jobs", "name"),
  moved("changes", "changes", "id"),
  moved("petEvents", "animals' events", "petId", "changeId"),
  moved("listEntries", "entries of lists", "source", "entry", "changeId"),
  moved("removedPets", "removed animals", "id"),
  moved("idempotencyKeys", "repeatable creates", "keyId", "value"),
  moved("pets", "animals", "id"),
];

const counterTables: readonly TableName[] = ["rateWindows", "usageDays"];
const animals = movedTables.find(({ table }) => table === "pets") as Moved;

/** What a table came to, equal on both sides. */
export interface CopiedPart {
  readonly title: string;
  readonly rows: number;
  readonly checksum: string;
}

/**
 * Moves everything from one store to another, with ids and hashes of secrets, and compares both. A
 * copy that was cut short begins again. Throws `invalid_request` when the target is not empty, and
 * `unavailable` when both differ at the end, because one has changed. `say` hears what is done next.
 */
export async function copyStore(
  from: Store,
  to: Store,
  say: (step: string) => void,
): Promise<CopiedPart[]> {
  await begin(from, to);
  // Read before the rows: a number that is given out meanwhile is then behind it and not lost.
  const last = await from.db.read(lastNumbers, longWork);
  for (const table of movedTables) {
    say(`Copying ${table.title}`);
    await eachBatch(from, table, async (rows) => {
      await changeRows(to, table, (tx) => tx.insertAll<PgTable>(tx.t[table.table], rows));
    });
  }
  await to.db.transaction((tx) => goOnBehind(tx, last), longWork);
  say("Comparing both sides");
  const parts = await compare(from, to);
  await handOver(from, to);
  return parts;
}

/** Marks the target before its first row, so that nobody takes a part of a copy for the whole. */
async function begin(from: Store, to: Store): Promise<void> {
  const isPart = (await to.db.read((tx) => getMeta(tx, copyMark))) !== undefined;
  if (!isPart && !(await holdsNothing(to))) {
    throw new AppError("invalid_request", `${to.place} is not empty.`, {
      hint: "Name a new place.",
    });
  }
  await to.db.transaction(async (tx) => {
    await setMeta(tx, copyMark, from.place);
    // A service that has nothing yet may have begun its backups; its next start does it again.
    await removeJob(tx, jobName("backup", ""));
  });
  if (!isPart) return;
  for (const table of movedTables.toReversed()) {
    await changeRows(to, table, async (tx) => -(await tx.run(tx.delete(tx.t[table.table]))));
  }
}

export async function holdsNothing(store: Store): Promise<boolean> {
  for (const table of movedTables.filter((each) => each.table !== "schedule")) {
    if ((await readRows(store, table, undefined, 1)).length > 0) return false;
  }
  return true;
}

/** Changes a table by `work`, which returns how many rows there are more. */
function changeRows(
  store: Store,
  table: Moved,
  work: (tx: Tx) => Promise<number>,
): Promise<unknown> {
  return dbOf(store, table).transaction((tx) => {
    if (table !== animals) return work(tx);
    return changePets(tx, "any", async () => {
      const more = await work(tx);
      return { result: more, more };
    });
  }, longWork);
}

/**
 * Marks the source as moved, and takes the target's mark away behind that: both are never served.
 * Throws `unavailable` if the source takes no mark; the target is whole, and is served.
 */
async function handOver(from: Store, to: Store): Promise<void> {
  const whole = () => to.db.transaction((tx) => deleteMeta(tx, copyMark));
  try {
    await from.db.transaction((tx) => setMeta(tx, movedMark, to.place));
  } catch (error) {
    await whole();
    // Such as a database that became read-only, which is a reason to leave it.
    throw new AppError("unavailable", `${from.place} could not be marked as moved.`, {
      cause: error,
      hint: `Everything is in ${to.place}, and both sides are equal. Use only that place from now on.`,
    });
  }
  await whole();
}

async function compare(from: Store, to: Store): Promise<CopiedPart[]> {
  const copied: CopiedPart[] = [];
  for (const table of movedTables) {
    const ours = await digest(from, table);
    const theirs = await digest(to, table);
    if (!Bun.deepEquals(ours, theirs)) {
      throw new AppError(
        "unavailable",
        `The copy is not equal: ${table.title} are ${ours.rows} in ${from.place} and ${theirs.rows} in ${to.place}, ` +
          `checksums ${ours.checksum} and ${theirs.checksum}.`,
        { hint: "Stop every server on both places and copy again, to a new place." },
      );
    }
    copied.push({ title: table.title, ...ours });
  }
  return copied;
}

/** The number of a table's rows and the sum of their hashes, whatever their order. */
async function digest(store: Store, table: Moved): Promise<Omit<CopiedPart, "title">> {
  let rows = 0;
  let sum = 0n;
  await eachBatch(store, table, (batch) => {
    rows += batch.length;
    for (const row of batch) sum = BigInt.asUintN(64, sum + hashOf(row));
  });
  return { rows, checksum: sum.toString(16).padStart(16, "0") };
}

/** Calls `visit` for each batch of rows in the order of the key. */
async function eachBatch(
  store: Store,
  table: Moved,
  visit: (rows: readonly Row[]) => void | Promise<void>,
): Promise<void> {
  let last: Row | undefined;
  for (;;) {
    const rows = await readRows(store, table, last, batchRows);
    if (rows.length > 0) await visit(rows);
    last = rows.at(-1);
    if (rows.length < batchRows) return;
  }
}

/** A row's hash over a form that both databases give. */
function hashOf(row: Row): bigint {
  const cells = Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const plain = cells.map(([, cell]) =>
    cell instanceof Uint8Array ? Buffer.from(cell).toString("hex") : cell,
  );
  return Bun.hash(jsonText(plain));
}

export type Row = Readonly<Record<string, unknown>>;

const dbOf = (store: Store, { table }: Moved): Database =>
  counterTables.includes(table) ? store.counters : store.db;

/** At most `limit` rows in the order of their key, above the key of `after` where one is given. */
export function readRows(
  store: Store,
  from: Moved,
  after: Row | undefined,
  limit: number,
): Promise<Row[]> {
  const { table, key } = from;
  return dbOf(store, from).read(async (tx) => {
    const columns = columnsOf<PgTable>(tx.t[table]);
    const ofKey = key.flatMap((property) => columns[property] ?? []);
    const list = (parts: readonly SQL[]) => sql.join([...parts], sql`, `);
    const above =
      after &&
      sql`(${list(ofKey.map((column) => sql`${column}`))}) > (${list(
        ofKey.map((column, at) => sql`${sql.param(after[key[at] ?? ""], column)}`),
      )})`;
    const query = tx.select(columns).from(tx.t[table]);
    return await query
      .where(above)
      .orderBy(...ofKey)
      .limit(limit);
  }, longWork);
}

/** The tables whose keys the database gives. */
const numbered = ["pets", "changes", "keyEvents"] as const;

/** The last numbers that a store gave out, so that another one goes on behind them. */
async function lastNumbers(tx: Tx) {
  const given: bigint[] = [];
  for (const name of numbered) given.push(await lastNumber(tx, getTableName(tx.t[name])));
  const [found] = await tx.select().from(tx.t.keyEpoch);
  const facts = await tx.select().from(tx.t.storeState);
  return { keys: given, epoch: found?.epoch ?? 0, facts: facts.filter(goesAlong) };
}

/** Ends a copy: new numbers go on after `last`, and servers read everything again. */
async function goOnBehind(tx: Tx, last: Awaited<ReturnType<typeof lastNumbers>>): Promise<void> {
  for (const [at, name] of numbered.entries()) {
    await raiseNumber(tx, getTableName(tx.t[name]), last.keys[at] ?? 0n);
  }
  const { keyEpoch } = tx.t;
  for (const { name, value } of last.facts) await setMeta(tx, name, value);
  await tx
    .update(keyEpoch)
    .set({ epoch: last.epoch })
    .where(sql`${keyEpoch.epoch} < ${last.epoch}`);
  await changePets(tx, "any", async () => ({ result: undefined, more: 0 }));
  await nextEpoch(tx);
}

/** The last number that was given to a row of a table, or 0. */
async function lastNumber(tx: Tx, table: string): Promise<bigint> {
  const last =
    tx.dialect === "sqlite"
      ? sql`SELECT max(seq) AS last FROM sqlite_sequence WHERE name = ${table}`
      : sql`SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM ${sequenceOf(table)}`;
  const [found] = await tx.rows<{ last: bigint | null }>(last);
  return found?.last ?? 0n;
}

const sequenceOf = (table: string) => sql.raw(`${schemaName}.${table}_id_seq`);

/** Makes the next number of a table greater than `last`. */
async function raiseNumber(tx: Tx, table: string, last: bigint): Promise<void> {
  if (last <= (await lastNumber(tx, table))) return;
  if (tx.dialect === "postgres") {
    await tx.rows(sql`SELECT setval('${sequenceOf(table)}', ${last})`);
    return;
  }
  const raised = await tx.run(sql`UPDATE sqlite_sequence SET seq = ${last} WHERE name = ${table}`);
  // A table has its row from its first number on.
  if (raised > 0) return;
  await tx.run(sql`INSERT INTO sqlite_sequence (name, seq) VALUES (${table}, ${last})`);
}
