/** The records of a list as they are compared with the store: the newest one of each animal. */
import type { Candidate, Gone } from "../understand/record.ts";
import type { ResolvedCategory } from "./categories.ts";

/** What animals are compared by: their source and their id there. */
export function keyOf(source: string, externalId: string): string {
  return `${source}\0${externalId}`;
}

/** A record with its category, and whose its id is. */
export interface PlannedRecord {
  readonly outcome: Candidate | Gone;
  /** Undefined for one that is gone. */
  readonly category: ResolvedCategory | undefined;
  readonly source: string;
}

/** Ranks of two records of one animal from the same moment: the one that is for adoption holds. */
function rankOf(outcome: Candidate | Gone): number {
  return outcome.kind === "gone" ? 0 : outcome.status === "sold" ? 1 : 2;
}

function isNewer(one: PlannedRecord, other: PlannedRecord): boolean {
  const [a, b] = [one.outcome, other.outcome];
  const byTime = (a.version ?? 0) - (b.version ?? 0);
  if (byTime !== 0) return byTime > 0;
  return a.version === undefined || rankOf(a) >= rankOf(b);
}

/** The newest record of each animal, as far as ids tell the animals. */
export interface Newest {
  /** By what the records call their animals. */
  readonly identified: ReadonlyMap<string, PlannedRecord>;
  /** Those without any id are animals of their own. */
  readonly anonymous: readonly PlannedRecord[];
  /** Older records of animals that are for adoption. */
  readonly superseded: number;
  /** Animals whose records have different names: the first line, and what is shown of them. */
  readonly differentNames: readonly { readonly line: number; readonly example: string }[];
}

/** What a record calls its animal; undefined without an id. */
function ownKey({ outcome, source }: PlannedRecord, newIds: boolean): string | undefined {
  const { id, externalId } = outcome;
  if (externalId !== undefined) return keyOf(source, externalId);
  return id === undefined || newIds ? undefined : String(id);
}

/** Leaves the older records of animals out that have several. */
export function newestOf(records: readonly PlannedRecord[], newIds: boolean): Newest {
  const identified = new Map<string, PlannedRecord>();
  const anonymous: PlannedRecord[] = [];
  const names = new Map<string, { names: Set<string>; line: number; isThere: boolean }>();
  let superseded = 0;
  for (const record of records) {
    const key = ownKey(record, newIds);
    if (key === undefined) {
      anonymous.push(record);
      continue;
    }
    const known = identified.get(key);
    const isNext = known === undefined || isNewer(record, known);
    if (isNext) identified.set(key, record);
    if (known === undefined) continue;
    const first = () => ({ names: new Set<string>(), line: known.outcome.line, isThere: false });
    const entry = names.getOrInsertComputed(key, first);
    for (const { name, kind } of [known.outcome, record.outcome]) {
      if (name !== undefined) entry.names.add(name);
      entry.isThere ||= kind === "pet";
    }
    if ((isNext ? known : record).outcome.kind === "pet") superseded += 1;
  }
  const differentNames = [...names].flatMap(([key, each]) => {
    const id = identified.get(key)?.outcome.externalId;
    if (each.names.size < 2 || !each.isThere || id === undefined) return [];
    const two = [...each.names].toSorted().slice(0, 2);
    const both = two.map((name) => JSON.stringify(name)).join(" and ");
    return [{ line: each.line, example: `${id} is ${both}` }];
  });
  return { identified, anonymous, superseded, differentNames };
}
