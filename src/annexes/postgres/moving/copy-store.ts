import { AppError } from "../../../domain/errors.ts";
import type { Store } from "../../../storage/contract.ts";
import { type Cell, keysPart, type Part, parts, petsPart, type Row } from "./parts.ts";

/** Rows in one transaction. */
const batchRows = 2_000;

export interface CopyProgress {
  readonly phase: "comparing" | "copying" | "checking";
  readonly title: string;
  readonly done: number;
  /** Undefined while nobody knows. */
  readonly total: number | undefined;
}

export interface CopyOptions {
  /** Goes on with a copy that broke off, instead of refusing a store that is not empty. */
  readonly resume: boolean;
  readonly onProgress: (progress: CopyProgress) => void;
  readonly stop: AbortSignal;
}

/** What a part came to, equal on both sides. */
export interface CopiedPart {
  readonly title: string;
  readonly rows: number;
  readonly checksum: string;
}

/**
 * Copies everything from one store into another: animals with their ids, keys with the hashes of their secrets, so that
 * the keys that people hold go on working, events, counters, usage. Then reads both sides and compares them.
 *
 * Throws `invalid_request` when the target holds anything and that is not the beginning of such a copy, and `unavailable`
 * when the two sides differ at the end, as they do when somebody changed one of them meanwhile.
 */
export async function copyStore(
  from: Store,
  to: Store,
  options: CopyOptions,
): Promise<CopiedPart[]> {
  const isEmpty = await holdsNothing(to);
  if (!isEmpty && !options.resume) {
    throw new AppError("invalid_request", `${to.place} is not empty.`, {
      hint: "Name a new place; or, if a copy to this one broke off, go on with --resume.",
    });
  }
  if (!isEmpty) await checkBeginning(from, to, options);
  // Read before the rows: a number that is given out meanwhile is then behind it and not lost.
  const last = await from.transfer.lastNumbers();
  for (const part of parts) await copyPart(from, to, part, options);
  await to.transfer.finish(last);
  return compare(from, to, options);
}

async function holdsNothing(store: Store): Promise<boolean> {
  for (const part of parts) {
    if ((await store.transfer.read(part, undefined, 1)).length > 0) return false;
  }
  return true;
}

/** Refuses a target whose keys and animals are not all the source's: it is no copy that broke off. */
async function checkBeginning(from: Store, to: Store, options: CopyOptions): Promise<void> {
  const known = new Set<bigint>();
  const note = (what: Part, row: Row) => void known.add(hashOf(what, row));
  await eachRow(from, keysPart, undefined, "comparing", options, (row) => note(keysPart, row));
  let isForeign = false;
  await eachRow(to, keysPart, undefined, "comparing", options, (row) => {
    isForeign ||= !known.has(hashOf(keysPart, row));
  });
  const last = await to.transfer.lastPet();
  const ours = await digest(from, petsPart, "comparing", options, last);
  const theirs = await digest(to, petsPart, "comparing", options, last);
  if (!isForeign && ours.rows === theirs.rows && ours.sum === theirs.sum) return;
  throw new AppError(
    "invalid_request",
    `What is in ${to.place} is not the beginning of a copy of ${from.place}.`,
    { hint: "Name a new place. If the source was changed since, a copy has to begin anew too." },
  );
}

async function copyPart(from: Store, to: Store, part: Part, options: CopyOptions): Promise<void> {
  // Only animals are resumed behind the last id: there are many, and their ids only grow. The other parts are read again
  // from the start; `write` leaves rows that exist as they are.
  const after = part === petsPart ? [await to.transfer.lastPet()] : undefined;
  let batch: Row[] = [];
  const write = async () => {
    if (batch.length > 0) await to.transfer.write(part, batch);
    batch = [];
  };
  await eachRow(from, part, after, "copying", options, async (row) => {
    batch.push(row);
    if (batch.length === batchRows) await write();
  });
  await write();
}

async function compare(from: Store, to: Store, options: CopyOptions): Promise<CopiedPart[]> {
  const copied: CopiedPart[] = [];
  for (const part of parts) {
    const ours = await digest(from, part, "checking", options);
    const theirs = await digest(to, part, "checking", options);
    if (ours.rows !== theirs.rows || ours.sum !== theirs.sum) {
      throw new AppError(
        "unavailable",
        `The copy is not equal: ${part.title} are ${ours.rows} in ${from.place} and ${theirs.rows} in ${to.place}, ` +
          `checksums ${hex(ours.sum)} and ${hex(theirs.sum)}.`,
        { hint: "Stop every server on both places and copy again, to a new place." },
      );
    }
    copied.push({ title: part.title, rows: ours.rows, checksum: hex(ours.sum) });
  }
  return copied;
}

/** The number of a part's rows and the sum of their hashes, which is the same in whatever order they come. */
async function digest(
  store: Store,
  part: Part,
  phase: CopyProgress["phase"],
  options: CopyOptions,
  lastPet?: bigint,
): Promise<{ rows: number; sum: bigint }> {
  let rows = 0;
  let sum = 0n;
  await eachRow(store, part, undefined, phase, options, (row) => {
    if (lastPet !== undefined && (row[idPlace] as bigint) > lastPet) return false;
    rows += 1;
    sum = BigInt.asUintN(64, sum + hashOf(part, row));
    return true;
  });
  return { rows, sum };
}

/** Calls `visit` for each row in the order of the key, until it returns false. */
async function eachRow(
  store: Store,
  part: Part,
  after: readonly Cell[] | undefined,
  phase: CopyProgress["phase"],
  { onProgress, stop }: CopyOptions,
  // oxlint-disable-next-line typescript/no-invalid-void-type -- most visitors have nothing to say
  visit: (row: Row) => boolean | void | Promise<void>,
): Promise<void> {
  // A store that is being filled counts its animals at the end.
  const total = (part === petsPart && (await store.pets.count())) || undefined;
  let last = after;
  for (let done = 0; ;) {
    stop.throwIfAborted();
    const rows = await store.transfer.read(part, last, batchRows);
    for (const row of rows) {
      const outcome = visit(row);
      if (outcome instanceof Promise) await outcome;
      else if (outcome === false) return;
    }
    done += rows.length;
    onProgress({ phase, title: part.title, done, total });
    const lastRow = rows.at(-1);
    last = lastRow && keyPlaces(part).map((place) => lastRow[place] as Cell);
    if (rows.length < batchRows) return;
    // The loop is not to starve of signals where the store answers at once.
    await new Promise(setImmediate);
  }
}

/** Where the cells of the key are in a row. */
function keyPlaces({ columns, key }: Part): number[] {
  return key.map((name) => columns.findIndex((column) => column.name === name));
}
const [idPlace = 0] = keyPlaces(petsPart);

/** A row's hash over a form that both databases give: its cells with their lengths. */
function hashOf({ columns }: Part, row: Row): bigint {
  const cells = columns.map((_, at) => {
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
