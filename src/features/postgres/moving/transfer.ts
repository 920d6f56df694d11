/**
 * Everything in a store, table by table, as rows that both databases understand. It sees what
 * services hide, such as hashes of secrets. The columns come from the declarations, so none can be
 * forgotten.
 */
import type { Awaitable, Engine } from "../../../storage/contract.ts";
import { columnName, type Table } from "../../../storage/declare.ts";
import { selected } from "../../../storage/records.ts";
import {
  changeAnimals,
  countAnimals,
  inDialect,
  insert,
  joined,
  nextEpoch,
  raw,
  row,
  rows,
  run,
  sql,
  type Steps,
  type Value,
} from "../../../storage/statement.ts";
import { keyEpoch, pets, limitsTables } from "../../../storage/tables.ts";
import { catalogueTables } from "../../tables.ts";
import { schemaName } from "../columns.ts";

/** A row of a table: its cells in the order of the table's columns. */
export type Row = readonly Value[];

/** The tables that move. Each refers only to those before it, and the largest is the last. */
export const movedTables: readonly Table[] = [...limitsTables, ...catalogueTables].filter(
  ({ title }) => title !== undefined,
);

const counters = new Set(limitsTables.map(({ name }) => name));
const optionsFor = ({ name }: Table) => ({ counters: counters.has(name), patient: true });

const quoted = (property: string) => raw(`"${columnName(property)}"`);

export function keyCells({ columns, key }: Table, cells: Row): Row {
  const names = Object.keys(columns);
  return key.map((property) => cells[names.indexOf(property)] ?? null);
}

/** At most `limit` rows in the order of their key, above the key `after` where one is given. */
export function readRows(
  engine: Engine,
  table: Table,
  after: Row | undefined,
  limit: number,
): Awaitable<Row[]> {
  const key = joined(table.key.map(quoted));
  const above =
    after === undefined
      ? sql``
      : sql`WHERE (${key}) > (${joined(after.map((cell) => sql`${cell}`))})`;
  const names = Object.keys(table.columns).map(columnName);
  return engine.read(function* () {
    const found = yield* rows<Readonly<Record<string, Value>>>(
      sql`SELECT ${selected(table)} FROM ${table} ${above} ORDER BY ${key} LIMIT ${limit}`,
    );
    return found.map((cells) => names.map((name) => cells[name] ?? null));
  }, optionsFor(table));
}

/** Adds rows in one transaction; one whose key is there already is left as it is. */
export async function writeRows(
  engine: Engine,
  table: Table,
  added: readonly Row[],
): Promise<void> {
  const columns = Object.keys(table.columns);
  const writing = () => insert({ into: table, columns, rows: added, ifAbsent: true });
  const counting = function* (): Steps<number> {
    const written = yield* writing();
    yield* countAnimals(written);
    return written;
  };
  await engine.transact(table.name === pets.name ? counting : writing, optionsFor(table));
}

export async function lastPet(engine: Engine): Promise<bigint> {
  const highest = () => row<{ id: bigint }>(sql`SELECT coalesce(max(id), 0) AS id FROM ${pets}`);
  return (await engine.read(highest, { patient: true }))?.id ?? 0n;
}

/** The last numbers that were given out, so that the other store goes on behind them. */
interface LastNumbers {
  /** By table. */
  readonly keys: ReadonlyMap<Table, bigint>;
  readonly epoch: bigint;
}

/** The tables whose keys the database gives. */
const numbered = catalogueTables.filter(({ columns }) =>
  Object.values(columns).some(({ isGiven }) => isGiven),
);

export async function lastNumbers(engine: Engine): Promise<LastNumbers> {
  return engine.read(function* () {
    const keys = new Map<Table, bigint>();
    for (const table of numbered) keys.set(table, yield* lastNumber(table));
    const found = yield* row<{ epoch: bigint }>(sql`SELECT epoch FROM ${keyEpoch}`);
    return { keys, epoch: found?.epoch ?? 0n };
  });
}

/** Ends a transfer: new numbers continue after `last`, and servers read everything again. */
export async function goOnBehind(engine: Engine, last: LastNumbers): Promise<void> {
  await engine.transact(function* () {
    yield* changeAnimals();
    for (const [table, number] of last.keys) yield* raiseNumber(table, number);
    yield* run(sql`UPDATE ${keyEpoch} SET epoch = ${last.epoch} WHERE epoch < ${last.epoch}`);
    yield* nextEpoch();
  });
}

const sequenceOf = ({ name }: Table) => `${schemaName}.${name}_id_seq`;

/** The last number that was given to a row of a table, or 0. */
function* lastNumber(table: Table): Steps<bigint> {
  const last = inDialect({
    sqlite: `(SELECT max(seq) FROM sqlite_sequence WHERE name = '${table.name}')`,
    postgres: `(SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM ${sequenceOf(table)})`,
  });
  return (yield* row<{ last: bigint | null }>(sql`SELECT ${last} AS last`))?.last ?? 0n;
}

/** Makes the next number of a table greater than `last`. */
function* raiseNumber(table: Table, last: bigint): Steps<void> {
  if (last <= (yield* lastNumber(table))) return;
  const raised = yield* run(
    inDialect({
      sqlite: `UPDATE sqlite_sequence SET seq = ${last} WHERE name = '${table.name}'`,
      postgres: `SELECT setval('${sequenceOf(table)}', ${last})`,
    }),
  );
  // In SQLite a table has its row from its first number on.
  if (raised > 0) return;
  yield* run(sql`INSERT INTO sqlite_sequence (name, seq) VALUES (${table.name}, ${last})`);
}
