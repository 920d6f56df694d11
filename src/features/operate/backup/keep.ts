/**
 * What a store knows of its backups, in its own catalogue: its mark, the last one, and the list of
 * those that it made or adopted. Only those count for `--keep` that are there as the list has them,
 * by size and SHA-256; nothing else is ever removed.
 */
import { busyTimeoutMs } from "../../../storage/sqlite/connection.ts";
import { storeIdMeta, backupMeta } from "../../meta.ts";
import { examine, factIn, storedFact } from "../examine-catalogue.ts";
import { verify } from "./copy.ts";
import { encryptedEnding } from "./encryption.ts";
import { bring } from "./find.ts";
import { datedNames, olderBackups } from "./names.ts";
import { contentIn, digestOf, type Place, type PlacedFile, type Content } from "./places.ts";
import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";

interface Keeping {
  readonly place: Place;
  readonly catalogue: string;
  /** The store's id. */
  readonly id: string;
  /** The backup that was made just now. */
  readonly newest: string;
  /** Where a backup may be brought to, to look at it. */
  readonly folder: string;
}

/** How many unlisted files are looked at after one backup. */
const adoptedMax = 10;

export interface Kept {
  /** Where the older ones were. */
  readonly removed: string[];
  /** What is not as it was made, if anything is. */
  readonly problem?: string;
}

/** Removes all backups of the store at the place but the newest `keep`. */
export async function keepNewest(keeping: Keeping, keep: number): Promise<Kept> {
  const { place, catalogue, newest } = keeping;
  const files = await own(keeping);
  await adopt(keeping, files);
  const made = madeBackups(catalogue);
  const known = files.flatMap((file) => {
    const entry = made.get(addressOf(place, file.name));
    return entry === undefined || entry.digest === noBackupOfOurs ? [] : [{ ...file, entry }];
  });
  const changed = new Set(known.filter(({ bytes, entry }) => bytes !== entry.bytes));
  // Read only where one would be removed: those that stay must be what they were.
  const read = known.length - changed.size > keep ? known : [];
  for (const each of read.filter((one) => one.name !== newest && !changed.has(one))) {
    const digest = await place.read(each.name, each.bytes, digestOf);
    if (digest !== each.entry.digest) changed.add(each);
  }
  const counted = known.filter((each) => !changed.has(each)).map(({ name }) => name);
  const older = olderBackups(counted, keep, newest);
  for (const name of older) {
    await place.remove(name);
    forgetMade(catalogue, [addressOf(place, name)]);
  }
  forgetMade(catalogue, gone(place, files, made));
  const removed = older.map((name) => place.at(name));
  const [first, ...others] = changed;
  if (first === undefined) return { removed };
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  const problem = `${place.at(first.name)}${more} is not as it was made, and does not count.`;
  return { removed, problem };
}

/** What has the store's mark at the place, oldest first. */
async function own({ place, id }: Keeping): Promise<PlacedFile[]> {
  const files = new Map((await place.list()).map((file) => [file.name, file]));
  return datedNames([...files.keys()])
    .filter(({ store }) => store === markOf(id))
    .flatMap(({ name }) => files.get(name) ?? []);
}

/** The addresses on the list that are not at the place any more. */
function gone(place: Place, files: readonly PlacedFile[], made: ReadonlyMap<string, Made>) {
  const there = new Set(files.map(({ name }) => addressOf(place, name)));
  const here = addressOf(place, "");
  const isHere = (each: string) => each.startsWith(here) && !each.slice(here.length).includes("/");
  return [...made.keys()].filter((each) => isHere(each) && !there.has(each));
}

/**
 * Puts files on the list that have the store's mark and are not on it, such as those of before the
 * list: once they are verified. What is encrypted cannot be looked at here.
 */
async function adopt(keeping: Keeping, files: readonly PlacedFile[]): Promise<void> {
  const { place, catalogue } = keeping;
  const made = madeBackups(catalogue);
  const unknown = files.filter(({ name, bytes }) => {
    const entry = made.get(addressOf(place, name)) ?? { digest: noBackupOfOurs, bytes: -1 };
    return entry.digest === noBackupOfOurs && entry.bytes !== bytes;
  });
  const plain = unknown.filter(({ name }) => !name.endsWith(encryptedEnding));
  for (const { name, bytes } of plain.slice(-adoptedMax)) {
    const digest = await lookAt(keeping, name);
    if (digest !== undefined) noteMade(catalogue, addressOf(place, name), { bytes, digest });
  }
}

/** The SHA-256 of a backup of this store. Undefined where it cannot be brought. */
async function lookAt({ place, folder, id }: Keeping, name: string): Promise<string | undefined> {
  let brought: Awaited<ReturnType<typeof bring>>;
  try {
    brought = await bring({ place, name }, folder);
  } catch {
    // Such as without space: it is looked at again after the next backup.
    return undefined;
  }
  using file = brought;
  try {
    verify(file.file);
    if (factIn(file.file, storeIdMeta) !== id) return noBackupOfOurs;
    return (await contentIn(file.file)).digest;
  } catch {
    return noBackupOfOurs;
  }
}

/** One entry of the list, with the address of the backup behind it. */
export const madeMeta = "made ";

type Made = Pick<Content, "bytes" | "digest">;

/** The digest of what was looked at, and is no backup of this store. */
const noBackupOfOurs = "";

/** The whole path of a backup, or its address in a bucket. */
export const addressOf = (place: Place, name: string): string =>
  place.folder === undefined ? place.at(name) : `${resolve(place.folder)}/${name}`;

/** The list of the store, by the addresses of the backups. */
function madeBackups(catalogue: string): Map<string, Made> {
  const rows = examine(catalogue, (db) =>
    db
      .query<{ name: string; value: string }, [string]>(
        "SELECT name, value FROM store_state WHERE substr(name, 1, 5) = ?",
      )
      .all(madeMeta),
  );
  return new Map(
    rows.map(({ name, value }) => [name.slice(madeMeta.length), JSON.parse(value) as Made]),
  );
}

export function noteMade(catalogue: string, address: string, { bytes, digest }: Made): void {
  changing(catalogue, (db) => put(db, madeMeta + address, JSON.stringify({ bytes, digest })));
}

function forgetMade(catalogue: string, addresses: readonly string[]): void {
  changing(catalogue, (db) => {
    const remove = db.query("DELETE FROM store_state WHERE name = ?");
    for (const address of addresses) remove.run(madeMeta + address);
  });
}

/** The store's own id, which it gets here if it has none; "" for a schema before there were any. */
export function storeId(catalogue: string): string {
  const add = "INSERT INTO store_state (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING";
  changing(catalogue, (db) => db.run(add, [storeIdMeta, crypto.randomUUID()]));
  return storedFact(dirname(catalogue), storeIdMeta) ?? "";
}

/** The first digits of a store's id, which the names of its backups have. */
export const markOf = (id: string): string => id.slice(0, 8);

/** The last backup that was made of a data folder, as its catalogue has it for the doctor. */
interface LastBackup {
  readonly atMs: number;
  /** The whole path that it was written to, or its address in a bucket. */
  readonly file: string;
  readonly bytes: number;
  /** The folder in which the service makes its backups. */
  readonly folder?: string | undefined;
}

export function recordBackup(catalogue: string, last: LastBackup): void {
  const folder = last.folder ?? lastBackup(dirname(catalogue))?.folder;
  changing(catalogue, (db) => put(db, backupMeta, JSON.stringify({ ...last, folder })));
}

/** Undefined also for a catalogue that cannot be read. */
export function lastBackup(folder: string): LastBackup | undefined {
  const last = storedFact(folder, backupMeta);
  return last === undefined ? undefined : (JSON.parse(last) as LastBackup);
}

function put(db: Database, name: string, value: string): void {
  db.run("INSERT OR REPLACE INTO store_state (name, value) VALUES (?, ?)", [name, value]);
}

function changing(catalogue: string, change: (db: Database) => void): void {
  if (!existsSync(catalogue)) return;
  try {
    using db = new Database(catalogue, { readwrite: true, create: false });
    db.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    change(db);
  } catch {
    // What is wrong with the catalogue, or with an older schema, is for the copy to say.
  }
}
