/**
 * What a store knows of its backups, in its own catalogue: its mark, the last one, and the list of
 * those that it made or adopted. Only what is on this list counts, and may be removed.
 */
import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { backupMeta, storeIdMeta } from "../../meta.ts";
import { examine } from "../examine-catalogue.ts";
import { storedFact } from "../hold-catalogue.ts";
import type { Content, Place } from "./places.ts";

/** One entry of the list, with the address of the backup behind it. */
export const madeMeta = "made ";

export type Made = Pick<Content, "bytes" | "digest">;

/** The digest of what was looked at, and is no backup of this store. */
export const noBackupOfOurs = "";

/** The whole path of a backup, or its address in a bucket. */
export const addressOf = (place: Place, name: string): string =>
  place.folder === undefined ? place.at(name) : `${resolve(place.folder)}/${name}`;

/** The list of the store, by the addresses of the backups. */
export function madeBackups(catalogue: string): Map<string, Made> {
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

export function forgetMade(catalogue: string, addresses: readonly string[]): void {
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
    db.run("PRAGMA busy_timeout = 5000");
    change(db);
  } catch {
    // What is wrong with the catalogue, or with an older schema, is for the copy to say.
  }
}
