/** Which record of an animal holds, and what is called alike: rules without a store. */
import { categoryKey } from "../../animals/categories.ts";
import { type Message, message, type Notes } from "../messages.ts";
import { distance } from "../understand/evidence.ts";
import { idPrefix, type Rejection, type SoundRecord } from "../understand/record.ts";
import { wordFor } from "./categories.ts";
import { originKey, type StoreAnimal } from "./said.ts";

export const nameKey = (name: string, category: string): string =>
  `${categoryKey(name)}\0${category}`;
export const animalKey = ({ name, categoryId }: StoreAnimal) => nameKey(name, String(categoryId));

/** What an animal without an id is called in the entries of its list. */
export const namelessKey = (name: string, category: string): string =>
  JSON.stringify([categoryKey(name), categoryKey(category)]);

export const namelessEntryOf = ({ name = "", category }: SoundRecord): string =>
  namelessKey(name, category === undefined ? "" : wordFor(category));

/** False where ids or sources say that they are two: equal ids are one animal's in one source. */
export function mayBeSame({ externalId, source }: SoundRecord, animal: StoreAnimal): boolean {
  if (source !== "" && animal.source !== "" && source !== animal.source) return false;
  if (externalId === undefined || animal.externalId === null) return true;
  const plain = (id: string, of: string) => (of === "" ? id : id.slice(idPrefix(of).length));
  return (
    source !== animal.source &&
    plain(externalId, source) === plain(animal.externalId, animal.source)
  );
}

/** True if it makes no difference which of the records is which of the animals. */
export function isSameState(
  records: readonly SoundRecord[],
  animals: readonly StoreAnimal[],
): boolean {
  const said = records.map((each) => (each.kind === "pet" ? (each.status ?? "") : "gone"));
  const known = animals.map(({ status }) => status ?? "");
  return said.toSorted().join() === known.toSorted().join();
}

/** A sound record that the store does not take, with all that an import would store of it. */
export function rejectionOf(sound: SoundRecord, field: string, problem: Message): Rejection {
  const { line, id, name, category, externalId, source } = sound;
  const said = sound.kind === "pet" ? sound.status : undefined;
  const status = sound.kind === "gone" ? "gone" : (said ?? null);
  const record = { id, name, category: category?.name ?? category?.id, status, externalId };
  return { kind: "reject", line, source, externalId, field, problem, record, status: said };
}

/**
 * Ranks of the records of one animal from the same moment. Who is there in a list of stays came
 * again; who was found, lost or fostered is told of by any other record; else what is furthest
 * from adoption holds.
 */
function rankOf(record: SoundRecord): number {
  if (record.kind === "pet" && record.isStay === true) return stayRank;
  if (record.kind === "gone") return record.isPassing === true ? -1 : distance("gone");
  return distance(record.status);
}

const stayRank = 10;

/** True if a record replaces another one of its animal: the last one does if both say the same. */
function isNewer(a: SoundRecord, b: SoundRecord): boolean {
  const byTime = (a.version ?? 0) - (b.version ?? 0);
  return byTime === 0 ? rankOf(a) >= rankOf(b) : byTime > 0;
}

/** The newest record of each animal, as far as ids tell the animals, and all without any id. */
export function newestOf(records: readonly SoundRecord[], notes: Notes) {
  const animals = Map.groupBy(records, keyOf);
  const anonymous = animals.get(undefined) ?? [];
  animals.delete(undefined);
  const identified: SoundRecord[] = [];
  /** Older records of animals that are for adoption. */
  let superseded = 0;
  for (const all of animals.values()) {
    const newest = all.reduce((known, each) => (isNewer(each, known) ? each : known));
    identified.push(newest);
    if (all.length === 1) continue;
    const others = all.filter((each) => each !== newest);
    superseded += others.filter(({ kind }) => kind === "pet").length;
    const { id, externalId, version = 0 } = newest;
    const line = all[0]?.line ?? newest.line;
    const rank = rankOf(newest);
    const rivals = others.filter((each) => (each.version ?? 0) === version);
    // Nothing but caution decides between them.
    if (rank !== stayRank && rivals.some((each) => ![-1, rank].includes(rankOf(each)))) {
      notes.add(message("recordsDisagree"), line, externalId ?? String(id));
    }
    const isThere = all.some(({ kind }) => kind === "pet");
    const names = [...new Set(all.flatMap(({ name }) => name ?? []))].toSorted();
    if (names.length < 2 || !isThere || externalId === undefined) continue;
    const shown = names.map((name) => JSON.stringify(name)).join(" and ");
    notes.add(message("namesDiffer"), line, `${externalId} is ${shown}`);
  }
  return { identified, anonymous, superseded };
}

function keyOf({ id, externalId, source }: SoundRecord): string | undefined {
  if (externalId !== undefined) return originKey(source, externalId);
  return id === undefined ? undefined : String(id);
}
