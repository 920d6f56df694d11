import type { SQL } from "bun";
import type { Session, TransactionOptions } from "../../storage/contract.ts";
import { columnName } from "../../storage/declare.ts";
import {
  type Answer,
  countEdit,
  type Dialect,
  type Insertion,
  type Statement,
  type Step,
  type Steps,
  written,
} from "../../storage/statement.ts";
import type { DatabaseAddress } from "./address.ts";
import { arrayTypes, columnTypes, schemaName } from "./columns.ts";
import { connect, repeatable, type Runner } from "./connections.ts";
import { asAppError, asSessionError, isHarmless } from "./failures.ts";
import { limitLocks } from "./transaction.ts";

/** How long an operator's transaction may take: it is nobody's request. */
const patienceMs = 10 * 60_000;

const dialect: Dialect = {
  name: "postgres",
  placeholder: (position) => `$${position}`,
  // By way of text: Bun's client would make JSON of the text once more.
  jsonPlaceholder: (position) => `CAST(CAST($${position} AS text) AS json)`,
  table: ({ name, temporary }) => (temporary ? `"${name}"` : `${schemaName}."${name}"`),
  columnType: ({ kind, isGiven }) =>
    isGiven ? "bigint GENERATED ALWAYS AS IDENTITY" : columnTypes[kind],
  tableOptions: "",
};

/** What a transaction changed that this process keeps in memory. */
export interface Noted {
  readonly animals: "any" | "additions" | undefined;
  /** The epoch that a change of keys began. */
  readonly epoch: number | undefined;
}

/** What runs a statement: a connection, or a transaction on one. */
type Client = Pick<SQL, "unsafe">;

/** Runs a transaction's steps, one after the other, and says what they changed. */
export async function perform<T>(
  client: Client,
  steps: Steps<T>,
): Promise<{ result: T; noted: Noted }> {
  let animals: Noted["animals"];
  let epoch: number | undefined;
  for (let next = steps.next(); ;) {
    if (next.done) return { result: next.value, noted: { animals, epoch } };
    const step = next.value;
    const answered = await answer(client, step);
    if (step.kind === "animals") animals = step.change;
    if (step.kind === "epoch") epoch = answered as number;
    next = steps.next(answered);
  }
}

async function answer(client: Client, step: Step): Promise<Answer> {
  switch (step.kind) {
    case "rows":
      return send(client, step.statement);
    case "count":
      return (await send(client, step.statement)).count;
    case "insert":
      return insertAll(client, step.insertion);
    case "epoch": {
      const raise = `UPDATE ${schemaName}.key_epoch SET epoch = epoch + 1 RETURNING epoch`;
      const [row] = (await client.unsafe(raise)) as [{ epoch: bigint }];
      return Number(row.epoch);
    }
    // The row's lock puts the changes of all processes in one order, see the table.
    case "animals":
      await client.unsafe(`UPDATE ${schemaName}.catalogue SET version = version + 1`);
      if (step.change === "any") await send(client, countEdit);
      return 0;
    case "counted":
      await client.unsafe(`UPDATE ${schemaName}.catalogue SET animals = animals + $1::bigint`, [
        step.more,
      ]);
      return 0;
  }
}

async function send(client: Client, statement: Statement) {
  const { text, values } = written(statement, dialect);
  return (await client.unsafe(text, values)) as object[] & { count: number };
}

async function insertAll(
  client: Client,
  { into, columns, rows, ifAbsent }: Insertion,
): Promise<number> {
  const kinds = columns.map((property) => into.columns[property]?.kind ?? "text");
  const names = columns.map((property) => `"${columnName(property)}"`);
  const cells = names.map((name, at) => (kinds[at] === "json" ? `${name}::json` : name));
  const arrays = kinds.map((kind, at) => `$${at + 1}::${arrayTypes[kind]}[]`);
  const { count } = (await client.unsafe(
    `INSERT INTO ${dialect.table(into)} (${names.join(", ")}) OVERRIDING SYSTEM VALUE
     SELECT ${cells.join(", ")} FROM unnest(${arrays.join(", ")}) AS given (${names.join(", ")})
     ${ifAbsent ? "ON CONFLICT DO NOTHING" : ""}`,
    columns.map((_, at) => rows.map((row) => row[at] ?? null)),
  )) as { count: number };
  return count;
}

/** Reads on one of the connections that requests share. */
export async function read<T>(
  reads: Runner<{ readonly sql: SQL }>,
  work: () => Steps<T>,
  { patient }: TransactionOptions = {},
): Promise<T> {
  const { result } = await reads.run(({ sql }) => perform(sql, work()), {
    ...repeatable,
    ...(patient ? { deadlineMs: performance.now() + patienceMs } : {}),
  });
  return result;
}

/** Runs a transaction on the connection for changes. */
export function transact<T>(
  changes: Runner<{ readonly sql: SQL }>,
  work: () => Steps<T>,
  timeoutMs: number,
  { patient = false }: TransactionOptions = {},
): Promise<{ result: T; noted: Noted }> {
  const limitMs = patient ? patienceMs : timeoutMs;
  return changes.run(
    ({ sql }) =>
      sql.begin(async (tx) => {
        await limitLocks(tx, limitMs);
        return perform(tx, work());
      }),
    { mayRepeat: isHarmless, deadlineMs: performance.now() + limitMs },
  );
}

/** A session on a connection of its own. `onCommit` is called after each transaction. */
export async function openSession(
  address: DatabaseAddress,
  timeoutMs: number,
  onCommit: (noted: Noted) => void,
): Promise<Session> {
  const sql = connect(address, { max: 1, timeoutMs });
  try {
    const client = await sql.reserve();
    return {
      dialect: "postgres",
      read: async (work) => (await translated(() => perform(client, work()))).result,
      aside: async (work) => (await translated(() => perform(client, work()))).result,
      transact: (work) =>
        translated(async () => {
          await client.unsafe("BEGIN");
          try {
            await limitLocks(client, patienceMs);
            const { result, noted } = await perform(client, work());
            await client.unsafe("COMMIT");
            onCommit(noted);
            return result;
          } catch (error) {
            await client.unsafe("ROLLBACK");
            throw error;
          }
        }),
      close: () => sql.close({ timeout: 0 }),
    };
  } catch (error) {
    await sql.close({ timeout: 0 });
    throw asAppError(error);
  }
}

async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asSessionError(error);
  }
}
