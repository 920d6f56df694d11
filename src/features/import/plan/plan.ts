/** What becomes of the animals of a list and of the store. */
import { petFieldNames } from "../../../domain/pet.ts";
import { categoryKey } from "../../animals/categories.ts";
import { type AddedPet, type PetState, stateOf } from "../../animals/changes.ts";
import { type Message, message } from "../messages.ts";
import type { Candidate, Rejection, SoundRecord } from "../understand/record.ts";
import type { ImportCategories, ResolvedCategory } from "./categories.ts";
import { type Decision, isFurther, type Said } from "./desk.ts";
import type { Entry } from "./entries.ts";
import { animalKey, isSameState, mayBeSame, nameKey } from "./matching.ts";
import { type ListMemory, namelessEntryOf, nameOf } from "./memory.ts";
import type { ImportOptions } from "./options.ts";
import { type Listed, Reports } from "./reports.ts";
import type { StoreAnimal, StoreAnimals } from "./store.ts";

/** A change of an animal that is here or was removed. */
export interface PlannedEvent {
  readonly petId: bigint;
  readonly before: PetState | null;
  /** Null for one that goes. Its category may have to be made first. */
  readonly after: PetState | null;
  readonly category: ResolvedCategory | undefined;
  readonly former?: PetState | undefined;
}

export class Plan {
  added: Candidate[] = [];
  readonly events: PlannedEvent[] = [];
  /**
   * Those that come back under their ids are added; those that a whole list lacks are missing;
   * `kept` are as people changed them; `waiting` lost their status until a word is explained.
   */
  readonly counts = {
    added: 0,
    updated: 0,
    unchanged: 0,
    withdrawn: 0,
    missing: 0,
    kept: 0,
    waiting: 0,
  };
  /** Records that nothing tells the animal of. */
  readonly rejections: Rejection[] = [];
  /** New animals whose name and category an animal here has, that no id identifies. */
  alike: SoundRecord[] = [];
  /** Records that may be the one animal here of their name and category. */
  readonly lookalikes: { readonly record: SoundRecord; readonly animal: StoreAnimal }[] = [];
  readonly reports: Reports;
  /** Animals that ids match, and those of them that are called otherwise. */
  readonly identity = { matched: 0, renamed: 0, example: "" };
  readonly memory: ListMemory;
  readonly #options: ImportOptions;
  readonly #categories: ImportCategories;
  /** Animals that a name in a whole list means, or may mean. */
  readonly #named = new Set<bigint>();

  constructor(options: ImportOptions, categories: ImportCategories, memory: ListMemory) {
    this.#options = options;
    this.#categories = categories;
    this.memory = memory;
    this.reports = new Reports(categories);
  }

  usedCategories(): ReadonlySet<ResolvedCategory> {
    const added = this.added.flatMap((each) => this.categoryOf(each) ?? []);
    return new Set([...added, ...this.events.flatMap(({ category }) => category ?? [])]);
  }

  /** What a record's category is here; undefined if it says none that there can be. */
  categoryOf({ category }: SoundRecord): ResolvedCategory | undefined {
    const found = category && this.#categories.resolve(category);
    return found && "problem" in found ? undefined : found;
  }

  /** Plans a record that has an id, with the animal that has it. */
  identified(record: SoundRecord, animal: StoreAnimal | undefined): void {
    if (animal !== undefined) {
      this.#compareNames(record, animal);
      this.#change(record, animal, record.externalId);
    } else if (record.id === undefined || this.#options.newIds === true) this.#add(record);
    // What is gone, and not here under this id, leaves nothing to withdraw. It is no fault.
    else if (record.kind === "pet") {
      const problem = message("idUnknown", String(record.id));
      this.rejections.push(rejectionOf(record, "id", problem));
    }
  }

  /**
   * Plans records without any id. In a whole list a name and category identify an animal where both
   * occur once, in the list and among `nameless`; what occurs more than once is not matched.
   */
  anonymous(records: readonly SoundRecord[], nameless: readonly StoreAnimal[]): void {
    const called = this.memory.nameless;
    const isKnown = new Set(called.values().map(({ id }) => id));
    const others = nameless.filter(({ id }) => !isKnown.has(id));
    const here = Map.groupBy(others, animalKey);
    for (const [key, all] of Map.groupBy(records, this.#keyOf)) {
      const [record] = all;
      const known = record && all.length === 1 ? called.get(namelessEntryOf(record)) : undefined;
      const animals = known === undefined ? (here.get(key) ?? []) : [known];
      const [animal] = animals;
      if (!this.memory.list.isWhole || animal === undefined) {
        for (const each of all) this.#add(each);
        if (animal !== undefined) this.alike.push(...all);
        continue;
      }
      for (const each of animals) this.#named.add(each.id);
      if (all.length === 1 && animals.length === 1 && record !== undefined) {
        this.#change(record, animal, this.memory.entryFor(record));
      } else if (isSameState(all, animals)) this.counts.unchanged += animals.length;
      else for (const each of all) this.#refuseAlike(each, all.length, animals.length);
    }
  }

  /** Takes new animals for those of `others` that are called like them, where `isSame` says so. */
  recognise(others: readonly StoreAnimal[], isSame: (line: number) => boolean): void {
    if (others.length === 0) return;
    const here = Map.groupBy(others, animalKey);
    const same = new Set<SoundRecord>();
    this.alike = [];
    for (const [key, all] of Map.groupBy(this.added, this.#keyOf)) {
      const [record] = all;
      const animals = (here.get(key) ?? []).filter(
        (each) => !this.#named.has(each.id) && all.some((own) => mayBeSame(own, each)),
      );
      const [animal] = animals;
      if (record === undefined || animal === undefined) continue;
      if (all.length > 1 || animals.length > 1) {
        this.alike.push(...all);
        continue;
      }
      this.lookalikes.push({ record, animal });
      if (!isSame(record.line)) continue;
      same.add(record);
      this.#named.add(animal.id);
      this.#change(record, animal, this.memory.entryFor(record));
    }
    this.added = this.added.filter((each) => !same.has(each));
    this.counts.added -= same.size;
  }

  /**
   * Takes of a bad record what hides its animal: a status further from adoption, or a word for it
   * that is not explained.
   */
  bad(animal: StoreAnimal, { status: said, unknownStatus }: Rejection): void {
    const status = said ?? null;
    const { id, externalId, isRemoved, ...state } = animal;
    const isUnknown = unknownStatus !== undefined;
    // A word that nobody explained takes nothing of an animal that is reserved.
    const isTold = isFurther(status, state.status) && (!isUnknown || state.status === "available");
    if (isRemoved || !isTold || externalId === null) return;
    // Somebody has decided otherwise since the list said so.
    if (this.memory.hasSaid(externalId, status)) return;
    this.counts[isUnknown ? "waiting" : "updated"] += 1;
    const before = { ...state, externalId };
    const category = { id: state.categoryId, name: undefined };
    this.events.push({ petId: id, before, after: { ...before, status }, category });
    this.memory.saysStatus(animal, externalId, status);
    this.reports.changes(animal, { takes: ["status"] }, { name: null, category, status });
  }

  #refuseAlike(record: SoundRecord, records: number, animals: number): void {
    const name = JSON.stringify(record.name ?? "Unnamed");
    const problem = message("sameName", name, String(records), String(animals));
    this.rejections.push(rejectionOf(record, "name", problem));
  }

  /** The animals that no name in a whole list means. */
  unnamed(animals: readonly StoreAnimal[]): StoreAnimal[] {
    return animals.filter(({ id }) => !this.#named.has(id));
  }

  /**
   * The animals among those that no id in a whole list names that it leaves out from now on. One
   * that was left out before is here because people brought it back.
   */
  missingOf(animals: readonly StoreAnimal[]): StoreAnimal[] {
    const nothing = { name: null, category: null, status: null };
    return this.unnamed(animals).filter((animal) => {
      const decision = this.memory.decide({ ...nothing, presence: "left out" }, animal);
      if (decision.does === "withdraws") return true;
      this.#keep(animal, decision, { ...nothing, category: undefined });
      return false;
    });
  }

  /** Withdraws animals of a source that its whole list does not have. */
  absent(missing: readonly StoreAnimal[]): void {
    this.counts.missing += missing.length;
    for (const animal of missing) {
      this.#withdraw(animal);
      this.memory.leavesOut(animal);
    }
  }

  /** Animals that people removed are left out from now on. */
  removedAbsent(entries: readonly Entry[]): void {
    for (const [entry, { id }] of this.memory.nameless) {
      if (this.#named.has(id)) this.memory.nameless.delete(entry);
    }
    this.memory.leavesRemovedOut(entries);
  }

  /** The animal that a record's ids mean. */
  animalOf(
    { id, externalId, source }: SoundRecord,
    { byId, byOrigin }: StoreAnimals,
  ): StoreAnimal | undefined {
    const named = id === undefined || this.#options.newIds === true ? undefined : byId.get(id);
    const isSame = externalId === undefined || (named?.externalId ?? externalId) === externalId;
    if (named !== undefined && isSame) return named;
    return externalId === undefined ? undefined : byOrigin.get(source, externalId);
  }

  /** Counts animals that the list calls otherwise than it did, and than they are called here. */
  #compareNames({ name = "", externalId }: SoundRecord, animal: StoreAnimal): void {
    if (externalId === undefined || name === "" || animal.name === "") return;
    this.identity.matched += 1;
    if (this.memory.isCalled(animal, externalId, name)) return;
    this.identity.renamed += 1;
    this.identity.example ||= `${JSON.stringify(animal.name)} for ${JSON.stringify(name)}`;
  }

  #change(record: SoundRecord, animal: StoreAnimal, entry: string | undefined): void {
    const isGone = record.kind === "gone";
    if (isGone && this.#options.keepGone === true) return;
    const category = this.categoryOf(record);
    if (category === undefined && !isGone) return;
    const listed: Listed = {
      name: record.name ?? null,
      category,
      status: isGone ? null : (record.status ?? null),
    };
    const now: Said = {
      ...listed,
      presence: isGone ? "gone" : "there",
      category: category === undefined ? null : (category.id ?? categoryKey(category.name ?? "")),
    };
    const decision = this.memory.decide(now, animal, entry);
    if (entry !== undefined) this.memory.says(record, animal, entry);
    this.#keep(animal, decision, listed);
    if (decision.does === "withdraws") this.#withdraw(animal);
    else if (isGone) return;
    else if (animal.isRemoved && decision.does === "nothing") this.counts.unchanged += 1;
    else this.#set(record, animal, decision, listed);
  }

  /** Gives an animal what is taken of its list. */
  #set(record: Candidate, animal: StoreAnimal, decision: Decision, listed: Listed): void {
    const { takes } = decision;
    const { id: petId, isRemoved, ...before } = animal;
    const own: ResolvedCategory = { id: before.categoryId, name: undefined };
    const category = takes.includes("category") ? (listed.category ?? own) : own;
    // A list that does not say whose it is leaves what is known. Names are those of a whole list.
    const { source } = record;
    const isSourced = record.externalId !== undefined || this.memory.list.isWhole;
    const after: PetState = {
      ...before,
      name: takes.includes("name") ? record.name : listedName(before.name, record.name),
      ...(takes.includes("status") && { status: record.status ?? null }),
      categoryId: category.id ?? before.categoryId,
      externalId: record.externalId ?? before.externalId,
      source: isSourced && source !== "" ? source : before.source,
    };
    const isOther = category.id === undefined || differs(before, after);
    if (isRemoved) {
      this.counts.added += 1;
      const former = isOther ? before : undefined;
      this.events.push({ petId, before: null, after, category, former });
    } else if (isOther) {
      this.counts.updated += 1;
      this.events.push({ petId, before, after, category });
    } else {
      this.counts.unchanged += 1;
      return;
    }
    this.reports.changes(animal, decision, listed);
  }

  /** Counts and shows an animal that people changed otherwise than its list says. */
  #keep(animal: StoreAnimal, decision: Decision, listed: Listed): void {
    if (decision.kept.length === 0) return;
    this.counts.kept += 1;
    this.reports.keeps(animal, decision, listed);
  }

  /** What a record is compared by without an id. */
  readonly #keyOf = (record: SoundRecord): string => {
    const category = this.categoryOf(record);
    return nameKey(record.name ?? "", String(category?.id ?? categoryKey(category?.name ?? "")));
  };

  #withdraw(animal: StoreAnimal): void {
    this.counts.withdrawn += 1;
    const before = stateOf(animal);
    this.events.push({ petId: animal.id, before, after: null, category: undefined });
    this.reports.withdraws(animal);
  }

  #add(record: SoundRecord): void {
    if (record.kind !== "pet") return;
    this.added.push(record);
    this.counts.added += 1;
  }
}

/** The name of an animal, blank where its list has none for it. */
const listedName = (here: string, listed: string) => (listed === "" ? nameOf(here) : here);

/** A sound record that the store does not take, with all that an import would store of it. */
export function rejectionOf(sound: SoundRecord, field: string, problem: Message): Rejection {
  const { line, id, name, category, externalId, source } = sound;
  const said = sound.kind === "pet" ? sound.status : undefined;
  const status = sound.kind === "gone" ? "gone" : (said ?? null);
  const record = { id, name, category: category?.name ?? category?.id, status, externalId };
  return { kind: "reject", line, source, externalId, field, problem, record, status: said };
}

/** The animal of a record, with a category that has an id by now. */
export function addedPet(record: Candidate, categoryId: bigint, isWhole: boolean): AddedPet {
  const { name, status, externalId } = record;
  const source = externalId !== undefined || isWhole ? record.source : "";
  return { name, status, externalId, source, categoryId };
}

function differs(before: PetState, after: PetState): boolean {
  return (
    before.externalId !== after.externalId ||
    before.source !== after.source ||
    petFieldNames.some((name) => before[name] !== after[name])
  );
}
