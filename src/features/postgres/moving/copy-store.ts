import { AppError } from "../../../domain/errors.ts";
import type { Store } from "../../../storage/contract.ts";
import type { Table } from "../../../storage/declare.ts";
import { apiKeys, pets } from "../../../storage/tables.ts";
import {
  goOnBehind,
  keyCells,
  lastNumbers,
  lastPet,
  movedTables,
  readRows,
  type Row,
  writeRows,
} from "./transfer.ts";

/** Rows in one transaction. */
const batchRows = 2_000;

export interface CopyProgress {
  readonly phase: "comparing" | "copying" | "checking";
  readonly title: string;
  readonly done: number;
  /** Undefined while unknown. */
  readonly total: number | undefined;
}

interface CopyOptions {
  /** Goes on with a copy that broke off, instead of refusing a store that is not empty. */
  readonly resume: boolean;
  readonly onProgress: (progress: CopyProgress) => void;
  readonly stop: AbortSignal;
  /** What to copy: by default everything that moves. */
  readonly tables?: readonly Table[];
}

const titleOf = ({ title = "" }: Table) => title;

/** What a table came to, equal on both sides. */
export interface CopiedPart {
  readonly title: string;
  readonly rows: number;
  readonly checksum: string;
}

/**
 * Copies everything from one store to another, with ids and hashes of secrets, and compares both.
 *
 * Throws `invalid_request` when the target is not empty and not the beginning of such a copy.
 * Throws `unavailable` when both differ at the end, because one has changed.
 */
export async function copyStore(
  from: Store,
  to: Store,
  options: CopyOptions,
): Promise<CopiedPart[]> {
  const { tables = movedTables } = options;
  const isEmpty = await holdsNothing(to, tables);
  if (!isEmpty && !options.resume) {
    throw new AppError("invalid_request", `${to.place} is not empty.`, {
      hint: "Name a new place. To continue an interrupted copy, add --resume.",
    });
  }
  if (!isEmpty) await checkBeginning(from, to, options);
  // Read before the rows: a number that is given out meanwhile is then behind it and not lost.
  const last = await lastNumbers(from);
  for (const table of tables) await copyTable(from, to, table, options);
  await goOnBehind(to, last);
  return compare(from, to, options);
}

async function holdsNothing(store: Store, tables: readonly Table[]): Promise<boolean> {
  for (const table of tables) {
    if ((await readRows(store, table, undefined, 1)).length > 0) return false;
  }
  return true;
}

/** Refuses a target whose keys and animals are not all the source's. */
async function checkBeginning(from: Store, to: Store, options: CopyOptions): Promise<void> {
  const known = new Set<bigint>();
  const note = (table: Table, row: Row) => void known.add(hashOf(table, row));
  await eachRow(from, apiKeys, undefined, "comparing", options, (row) => note(apiKeys, row));
  let isForeign = false;
  await eachRow(to, apiKeys, undefined, "comparing", options, (row) => {
    isForeign ||= !known.has(hashOf(apiKeys, row));
  });
  const last = await lastPet(to);
  const ours = await digest(from, pets, "comparing", options, last);
  const theirs = await digest(to, pets, "comparing", options, last);
  if (!isForeign && ours.rows === theirs.rows && ours.sum === theirs.sum) return;
  throw new AppError(
    "invalid_request",
    `What is in ${to.place} is not the beginning of a copy of ${from.place}.`,
    { hint: "Name a new place. If the source has changed since, start a new copy too." },
  );
}

async function copyTable(
  from: Store,
  to: Store,
  table: Table,
  options: CopyOptions,
): Promise<void> {
  // Only animals are resumed after the last id: there are many, and their ids ascend. Other tables
  // are read again from the start; `write` skips existing rows.
  const after = table.name === pets.name ? [await lastPet(to)] : undefined;
  let batch: Row[] = [];
  const write = async () => {
    if (batch.length > 0) await writeRows(to, table, batch);
    batch = [];
  };
  await eachRow(from, table, after, "copying", options, async (row) => {
    batch.push(row);
    if (batch.length === batchRows) await write();
  });
  await write();
}

async function compare(from: Store, to: Store, options: CopyOptions): Promise<CopiedPart[]> {
  const copied: CopiedPart[] = [];
  const { tables = movedTables } = options;
  for (const table of tables) {
    const ours = await digest(from, table, "checking", options);
    const theirs = await digest(to, table, "checking", options);
    if (ours.rows !== theirs.rows || ours.sum !== theirs.sum) {
      throw new AppError(
        "unavailable",
        `The copy is not equal: ${titleOf(table)} are ${ours.rows} in ${from.place} and ${theirs.rows} in ${to.place}, ` +
          `checksums ${hex(ours.sum)} and ${hex(theirs.sum)}.`,
        { hint: "Stop every server on both places and copy again, to a new place." },
      );
    }
    copied.push({ title: titleOf(table), rows: ours.rows, checksum: hex(ours.sum) });
  }
  return copied;
}

/** The number of a table's rows and the sum of their hashes, whatever their order. */
async function digest(
  store: Store,
  table: Table,
  phase: CopyProgress["phase"],
  options: CopyOptions,
  upTo?: bigint,
): Promise<{ rows: number; sum: bigint }> {
  let rows = 0;
  let sum = 0n;
  await eachRow(store, table, undefined, phase, options, (row) => {
    if (upTo !== undefined && (keyCells(table, row)[0] as bigint) > upTo) return false;
    rows += 1;
    sum = BigInt.asUintN(64, sum + hashOf(table, row));
    return true;
  });
  return { rows, sum };
}

/** Calls `visit` for each row in the order of the key, until it returns false. */
async function eachRow(
  store: Store,
  table: Table,
  after: Row | undefined,
  phase: CopyProgress["phase"],
  { onProgress, stop }: CopyOptions,
  // oxlint-disable-next-line typescript/no-invalid-void-type -- most visitors have nothing to say
  visit: (row: Row) => boolean | void | Promise<void>,
): Promise<void> {
  // A store that is being filled counts its animals at the end.
  const total = (table.name === pets.name && (await store.pets.count())) || undefined;
  let last = after;
  for (let done = 0; ;) {
    stop.throwIfAborted();
    const rows = await readRows(store, table, last, batchRows);
    for (const row of rows) {
      const outcome = visit(row);
      if (outcome instanceof Promise) await outcome;
      else if (outcome === false) return;
    }
    done += rows.length;
    onProgress({ phase, title: titleOf(table), done, total });
    const lastRow = rows.at(-1);
    last = lastRow && keyCells(table, lastRow);
    if (rows.length < batchRows) return;
    // The loop is not to starve of signals where the store answers at once.
    await new Promise(setImmediate);
  }
}

/** A row's hash over a form that both databases give: its cells with their lengths. */
function hashOf({ columns }: Table, row: Row): bigint {
  const cells = Object.keys(columns).map((_, at) => {
    const cell = row[at] ?? null;
    if (cell === null) return "-";
    const text = cell instanceof Uint8Array ? Buffer.from(cell).toString("hex") : String(cell);
    return `${text.length}:${text}`;
  });
  return Bun.hash(cells.join(","));
}

function hex(sum: bigint): string {
  return sum.toString(16).padStart(16, "0");
}
