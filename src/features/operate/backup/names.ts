/** The names of dated backups, and what can be told from them. */
import { isoSeconds, systemClock } from "../../../domain/clock.ts";
import { partialEnding } from "./copy.ts";
import type { Place } from "./places.ts";

/** `rehome-1a2b3c4d-20261122T021900Z.db`; older ones have no mark of their store. */
const dated =
  /^rehome-(?:(?<store>[\da-f]{8})-)?(?<time>\d{8}T\d{6}Z)(?:-(?<number>\d+))?\.db(?<age>\.age)?$/;

/** What the name of a dated backup says. */
interface DatedName {
  readonly name: string;
  /** The mark of its store, or "". */
  readonly store: string;
  /** When it was made, such as `2026-11-22T02:19:00Z`. */
  readonly at: string;
  /** Which of several of one second it is. */
  readonly number: number;
  readonly isEncrypted: boolean;
}

/** Returns what the name says, or undefined if it is not one of a dated backup. */
function readName(name: string): DatedName | undefined {
  const { store = "", time, number = "1", age } = dated.exec(name)?.groups ?? {};
  if (time === undefined) return undefined;
  const at = time.replace(/^(....)(..)(..)T(..)(..)/, "$1-$2-$3T$4:$5:");
  return { name, store, at, number: Number(number), isEncrypted: age !== undefined };
}

/** The dated backups among these names, oldest first. */
export function datedNames(names: readonly string[]): DatedName[] {
  return names
    .flatMap((name) => readName(name) ?? [])
    .toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.number - b.number));
}

function stemOf(store: string, nowMs: number): string {
  const time = isoSeconds(nowMs).replaceAll(/[-:]/g, "");
  return `rehome-${store === "" ? "" : `${store}-`}${time}`;
}

/** A free name at the place for a backup made at `nowMs`. */
export async function newName(
  place: Place,
  store: string,
  nowMs: number,
  ending: string,
): Promise<string> {
  const taken = new Set((await place.list()).map(({ name }) => name));
  const stem = stemOf(store, nowMs);
  for (let number = 1; ; number += 1) {
    const name = `${stem}${number === 1 ? "" : `-${number}`}.db${ending}`;
    if (!taken.has(name)) return name;
  }
}

/**
 * All dated backups of the store of `newest` but the newest `keep`. `newest` was made just now. A
 * name with a later time is older: the clock was wrong then, or is now.
 */
export function olderBackups(names: readonly string[], keep: number, newest: string): string[] {
  const store = readName(newest)?.store;
  const own = datedNames(names).filter((each) => each.store === store);
  const end = own.findIndex(({ name }) => name === newest) + 1;
  const byAge = [...own.slice(end), ...own.slice(0, end)];
  return byAge.slice(0, Math.max(0, own.length - keep)).map(({ name }) => name);
}

/** A new name for what is made or brought here, before it is sent or restored. */
export function stagedName(): string {
  const random = crypto.randomUUID().slice(0, 8);
  return `${stemOf(random, systemClock())}.db${partialEnding}`;
}

/** True for what is left of a copy that is killed: a file before it gets its name. */
export function isUnfinished(name: string): boolean {
  const file = name.replace(/-(?:journal|wal|shm)$/, "");
  // Of a restore, and of the copy before a migration.
  if (/^(?:rehome\.db\.restoring|\w+\.db\.before-.+\.partial)$/.test(file)) return true;
  return (
    file.endsWith(partialEnding) && readName(file.replace(/(?:\.partial)+$/, "")) !== undefined
  );
}
