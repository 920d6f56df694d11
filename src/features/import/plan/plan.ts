/** What an import changes: the records of a list against the animals of the store, in memory. */
import { petFieldNames } from "../../../domain/pet.ts";
import { optionalTextNames } from "../../optional-texts.ts";
import { categoryKey } from "../../animals/categories.ts";
import { type AddedPet, type PetState, stateOf } from "../../animals/changes.ts";
import { message } from "../messages.ts";
import type { Candidate, Gone, Rejection } from "../understand/record.ts";
import type { ResolvedCategory } from "./categories.ts";

/** An animal of the store, here or removed. */
export interface StoreAnimal extends PetState {
  readonly id: bigint;
  readonly isRemoved: boolean;
}

/** The animals of the store that some records may be; one that is here before a removed one. */
export interface StoreAnimals {
  /** By the ids that records name. */
  readonly byId: ReadonlyMap<bigint, StoreAnimal>;
  /** By `keyOf`. */
  readonly byKey: ReadonlyMap<string, StoreAnimal>;
}

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

export interface PlanOptions {
  /** Takes the ids of the records for those of another catalogue, which say nothing here. */
  readonly newIds: boolean;
  /** Leaves animals in the catalogue that are gone. */
  readonly keepGone: boolean;
  /** The source of which the records are the whole list: its other animals are gone. */
  readonly complete: string | undefined;
}

/** A change of an animal that is here or was removed. */
export interface PlannedEvent {
  readonly petId: bigint;
  readonly before: PetState | null;
  /** Null for one that goes. Its category may have to be made first. */
  readonly after: PetState | null;
  readonly category: ResolvedCategory | undefined;
  readonly former?: PetState | undefined;
}

export interface Plan {
  /** Records of animals that are not here, in the order of the list. */
  readonly added: readonly PlannedRecord[];
  readonly events: readonly PlannedEvent[];
  readonly counts: {
    /** With those that come back under their ids. */
    readonly added: number;
    readonly updated: number;
    readonly unchanged: number;
    readonly withdrawn: number;
  };
  /** Animals of the complete source that are not in the list. */
  readonly missing: number;
  /** Records that nothing tells the animal of. */
  readonly rejections: readonly Rejection[];
  /** New animals whose name and category an animal here has, that no id identifies. */
  readonly alike: readonly PlannedRecord[];
}

export interface DifferentName {
  readonly id: string;
  readonly names: readonly string[];
  readonly line: number;
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
  /** Animals whose records have different names. */
  readonly differentNames: readonly DifferentName[];
}

/** What a record calls its animal; undefined without an id. */
export function ownKey({ outcome, source }: PlannedRecord, newIds: boolean): string | undefined {
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
    return [{ id, names: [...each.names].toSorted().slice(0, 2), line: each.line }];
  });
  return { identified, anonymous, superseded, differentNames };
}

/** Plans an import, some records at a time, so that most of the store need not be in memory. */
export class Planner {
  readonly #options: PlanOptions;
  readonly #added: PlannedRecord[] = [];
  readonly #events: PlannedEvent[] = [];
  readonly #rejections: Rejection[] = [];
  readonly #alike: PlannedRecord[] = [];
  /** Animals that a name in a whole list means, or may mean. */
  readonly #named = new Set<bigint>();
  #restored = 0;
  #updated = 0;
  #unchanged = 0;
  #withdrawn = 0;
  #missing = 0;

  constructor(options: PlanOptions) {
    this.#options = options;
  }

  /** Plans records that have ids, each of another animal. */
  identified(records: readonly PlannedRecord[], store: StoreAnimals): void {
    for (const record of records) {
      const { outcome, source } = record;
      const animal = this.#animal(outcome, source, store);
      if (animal !== undefined) this.#change(record, animal);
      else if (outcome.id === undefined || this.#options.newIds) this.#add(record);
      // What is gone, and not here under this id, leaves nothing to withdraw. It is no fault.
      else if (outcome.kind === "pet") this.#rejections.push(unknownId(outcome, outcome.id));
    }
  }

  /**
   * Plans records without any id. In a whole list a name and category identify an animal where both
   * occur once, in the list and among `nameless`; what occurs more than once is not matched.
   */
  anonymous(records: readonly PlannedRecord[], nameless: readonly StoreAnimal[]): void {
    const here = Map.groupBy(nameless, (each) => nameKey(each.name, String(each.categoryId)));
    if (this.#options.complete === undefined) {
      for (const record of records) {
        if (here.has(recordKey(record))) this.#alike.push(record);
        this.#add(record);
      }
      return;
    }
    for (const [key, all] of Map.groupBy(records, recordKey)) {
      const animals = here.get(key) ?? [];
      const [record] = all;
      const [animal] = animals;
      for (const each of animals) this.#named.add(each.id);
      if (animal === undefined) for (const each of all) this.#add(each);
      else if (all.length === 1 && animals.length === 1 && record !== undefined) {
        this.#change(record, animal);
      } else if (isSameState(all, animals)) this.#unchanged += animals.length;
      else this.#rejections.push(...all.map((each) => ambiguous(each, all.length, animals.length)));
    }
  }

  /** The animals among those that no id in a whole list names that no name in it names either. */
  missingOf(animals: readonly StoreAnimal[]): StoreAnimal[] {
    return animals.filter(({ id }) => !this.#named.has(id));
  }

  /** Withdraws animals of a source that its whole list does not have. */
  absent(missing: readonly StoreAnimal[]): void {
    this.#missing += missing.length;
    for (const animal of missing) this.#withdraw(animal);
  }

  end(): Plan {
    return {
      added: this.#added.toSorted((a, b) => a.outcome.line - b.outcome.line),
      events: this.#events,
      counts: {
        added: this.#added.length + this.#restored,
        updated: this.#updated,
        unchanged: this.#unchanged,
        withdrawn: this.#withdrawn,
      },
      missing: this.#missing,
      rejections: this.#rejections,
      alike: this.#alike,
    };
  }

  #animal(
    { id, externalId }: Candidate | Gone,
    source: string,
    { byId, byKey }: StoreAnimals,
  ): StoreAnimal | undefined {
    const named = id === undefined || this.#options.newIds ? undefined : byId.get(id);
    const isSame = externalId === undefined || (named?.externalId ?? externalId) === externalId;
    if (named !== undefined && isSame) return named;
    if (externalId === undefined) return undefined;
    const found = byKey.get(keyOf(source, externalId));
    if (found?.isRemoved === false || source === "") return found;
    // Version 1.0.0 kept the source in the id alone.
    const unowned = byKey.get(keyOf("", externalId));
    return found === undefined || unowned?.isRemoved === false ? (unowned ?? found) : found;
  }

  #change({ outcome, category, source }: PlannedRecord, animal: StoreAnimal): void {
    if (outcome.kind === "gone") {
      if (!animal.isRemoved && !this.#options.keepGone) this.#withdraw(animal);
      return;
    }
    if (category === undefined) return;
    const { id: petId, isRemoved, ...before } = animal;
    // A list that does not say whose it is leaves what is known. Names are those of a whole list.
    const isSourced = outcome.externalId !== undefined || this.#options.complete !== undefined;
    const after: PetState = {
      ...before,
      ...textsOf(outcome),
      name: outcome.name,
      status: outcome.status ?? null,
      categoryId: category.id ?? before.categoryId,
      externalId: outcome.externalId ?? before.externalId,
      source: isSourced && source !== "" ? source : before.source,
    };
    const isOther = category.id === undefined || differs(before, after);
    if (isRemoved) {
      this.#restored += 1;
      this.#events.push({
        petId,
        before: null,
        after,
        category,
        former: isOther ? before : undefined,
      });
    } else if (isOther) {
      this.#updated += 1;
      this.#events.push({ petId, before, after, category });
    } else this.#unchanged += 1;
  }

  #withdraw(animal: StoreAnimal): void {
    const { id: petId } = animal;
    const before = stateOf(animal);
    this.#withdrawn += 1;
    this.#events.push({ petId, before, after: null, category: undefined });
  }

  #add(record: PlannedRecord): void {
    if (record.outcome.kind === "pet" && record.category !== undefined) this.#added.push(record);
  }
}

/** The animal of a record, with a category that has an id by now. */
export function addedPet(
  { outcome, source }: PlannedRecord,
  categoryId: bigint,
  isWhole: boolean,
): AddedPet {
  const { name, externalId } = outcome;
  const fields = outcome.kind === "pet" ? { ...textsOf(outcome), status: outcome.status } : {};
  const own = externalId !== undefined || isWhole ? source : "";
  return { ...fields, name: name ?? "", externalId, source: own, categoryId };
}

function textsOf(outcome: Candidate): Partial<AddedPet> {
  return Object.fromEntries(optionalTextNames.map((name) => [name, outcome[name] ?? null]));
}

function differs(before: PetState, after: PetState): boolean {
  return (
    before.externalId !== after.externalId ||
    before.source !== after.source ||
    petFieldNames.some((name) => before[name] !== after[name])
  );
}

const nameKey = (name: string, category: string) => `${categoryKey(name)}\0${category}`;

function recordKey({ outcome, category }: PlannedRecord): string {
  return nameKey(outcome.name ?? "", String(category?.id ?? category?.key ?? ""));
}

/** True if it makes no difference which of the records is which of the animals. */
function isSameState(records: readonly PlannedRecord[], animals: readonly StoreAnimal[]): boolean {
  const said = records.map(({ outcome }) =>
    outcome.kind === "pet" ? (outcome.status ?? "") : "gone",
  );
  const known = animals.map(({ status }) => status ?? "");
  return said.toSorted().join() === known.toSorted().join();
}

function unknownId({ line, id, name, category, status }: Candidate, own: bigint): Rejection {
  const record = { id, name, category: category.name ?? category.id, status: status ?? null };
  return { kind: "reject", line, field: "id", problem: message("idUnknown", String(own)), record };
}

function ambiguous({ outcome }: PlannedRecord, records: number, animals: number): Rejection {
  const { line, name = "Unnamed" } = outcome;
  const problem = message("sameName", JSON.stringify(name), String(records), String(animals));
  return { kind: "reject", line, field: "name", problem, record: { name } };
}
