/** The records of a list as they are compared with the store: the newest one of each animal. */
import { distance } from "../understand/evidence.ts";
import type { SoundRecord } from "../understand/record.ts";

/** What there is of animals, by their source and their id there. */
export class ByOrigin<T> {
  // A text of both for each animal would be a sixth of what an import needs.
  readonly #bySource = new Map<string, Map<string, T>>();

  get(source: string, externalId: string): T | undefined {
    return this.#bySource.get(source)?.get(externalId);
  }

  set(source: string, externalId: string, value: T): void {
    this.#bySource.getOrInsertComputed(source, () => new Map()).set(externalId, value);
  }

  values(): readonly T[] {
    return [...this.#bySource.values()].flatMap((each) => [...each.values()]);
  }
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

/** True if a record replaces another one of its animal. Of two that say the same the last one does. */
function isNewer(a: SoundRecord, b: SoundRecord): boolean {
  const byTime = (a.version ?? 0) - (b.version ?? 0);
  return byTime === 0 ? rankOf(a) >= rankOf(b) : byTime > 0;
}

/** True for records of one moment of which nothing but caution decides. */
function disagree(a: SoundRecord, b: SoundRecord): boolean {
  const ranks = [rankOf(a), rankOf(b)];
  const isClear = ranks.includes(stayRank) || ranks.includes(-1) || ranks[0] === ranks[1];
  return !isClear && (a.version ?? 0) === (b.version ?? 0);
}

/** The newest record of each animal, as far as ids tell the animals. */
export interface Newest {
  /** By what the records call their animals; an id of this catalogue is one in `ownSource`. */
  readonly identified: ByOrigin<SoundRecord>;
  /** Those without any id are animals of their own. */
  readonly anonymous: readonly SoundRecord[];
  /** Older records of animals that are for adoption. */
  readonly superseded: number;
  /** Animals whose records have different names: the first line, and what is shown of them. */
  readonly differentNames: readonly { readonly line: number; readonly example: string }[];
  /** Animals that have records of the same moment, or without one, which say different things. */
  readonly undecided: readonly { readonly line: number; readonly example: string }[];
}

/** Stands for the source of the ids that this catalogue gave. No source has this name. */
export const ownSource = "\0";

/** What a record calls its animal; undefined without an id. */
function originOf(
  { id, externalId, source }: SoundRecord,
  newIds: boolean,
): readonly [source: string, id: string] | undefined {
  if (externalId !== undefined) return [source, externalId];
  return id === undefined || newIds ? undefined : [ownSource, String(id)];
}

interface Names {
  readonly names: Set<string>;
  readonly line: number;
  readonly id: string | undefined;
  isThere: boolean;
}

/** Leaves the older records of animals out that have several. */
export function newestOf(records: readonly SoundRecord[], newIds: boolean): Newest {
  const identified = new ByOrigin<SoundRecord>();
  const anonymous: SoundRecord[] = [];
  const named = new ByOrigin<Names>();
  const undecided = new ByOrigin<{ readonly line: number; readonly example: string }>();
  let superseded = 0;
  for (const record of records) {
    const origin = originOf(record, newIds);
    if (origin === undefined) {
      anonymous.push(record);
      continue;
    }
    const known = identified.get(...origin);
    const isNext = known === undefined || isNewer(record, known);
    if (isNext) identified.set(...origin, record);
    if (known === undefined) continue;
    if (disagree(record, known)) {
      undecided.set(...origin, { line: record.line, example: origin[1] });
    }
    const { line, externalId: id } = known;
    const entry = named.get(...origin) ?? { names: new Set(), line, id, isThere: false };
    named.set(...origin, entry);
    for (const { name, kind } of [known, record]) {
      if (name !== undefined) entry.names.add(name);
      entry.isThere ||= kind === "pet";
    }
    if ((isNext ? known : record).kind === "pet") superseded += 1;
  }
  const differentNames = named.values().flatMap(({ names, line, id, isThere }) => {
    if (names.size < 2 || !isThere || id === undefined) return [];
    const two = [...names].toSorted().slice(0, 2);
    const both = two.map((name) => JSON.stringify(name)).join(" and ");
    return [{ line, example: `${id} is ${both}` }];
  });
  return { identified, anonymous, superseded, differentNames, undecided: undecided.values() };
}
