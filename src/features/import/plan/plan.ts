/** What becomes of the animals of a list and of the store. */
import { petFieldNames, type PetStatus } from "../../../domain/pet.ts";
import type { Tx } from "../../../storage/database.ts";
import { categoryKey } from "../../animals/categories.ts";
import { type AddedPet, type PetState, stateOf } from "../../animals/changes.ts";
import { type Message, message } from "../messages.ts";
import type { Candidate, Rejection, SoundRecord } from "../understand/record.ts";
import { idPrefix } from "../understand/values.ts";
import { type ImportCategories, type ResolvedCategory, wordFor } from "./categories.ts";
import { decide, type Decision, type ListField, listFields, type Said } from "./desk.ts";
import { categoryMark, type Entry, type NewEntry } from "./entries.ts";
import type { StoreAnimal, StoreAnimals } from "./store.ts";

export interface ImportOptions {
  /** Makes new categories. By default only a catalogue without any gets them. */
  readonly createCategories?: boolean | undefined;
  /** Takes over the rest when records are rejected; otherwise nothing is. */
  readonly skipBad?: boolean | undefined;
  /** Takes ids for those of another catalogue; else a record with an unknown id is bad. */
  readonly newIds?: boolean | undefined;
  /** Leaves animals in the catalogue that are gone. */
  readonly keepGone?: boolean | undefined;
  /** The input is the source's whole list: its other animals are gone. */
  readonly complete?: boolean | undefined;
  /** Withdraws more than half of a source's animals when its whole list has no more. */
  readonly confirmed?: boolean | undefined;
  /** The list is right of every animal, whatever people changed. */
  readonly listWins?: boolean | undefined;
  /**
   * Chooses which of the animals that a whole list lacks are withdrawn, in place of the rules for a
   * list that a person imports: all of them, unless records are bad or they are more than half.
   */
  readonly withdraws?: ((lacking: Lacking) => Promise<readonly StoreAnimal[]>) | undefined;
  /**
   * Decides for the record on a line whether it is the one animal here of its name and category,
   * which no id says. By default it is a new one.
   */
  readonly isSame?: ((line: number) => boolean) | undefined;
}

/** What a whole list lacks of the animals of its source. */
export interface Lacking {
  readonly tx: Tx;
  readonly missing: readonly StoreAnimal[];
  /** How many animals of the source are here. */
  readonly sourceAnimals: number;
  readonly rejections: readonly Rejection[];
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

/** A value before and after, as people read it; null for none. Of `presence`: there or gone. */
export interface FieldReport {
  readonly field: ListField | "presence";
  readonly before: string | null;
  readonly after: string | null;
}

/** What an import does to an animal that was here, or does not do because people changed it. */
export interface AnimalReport {
  readonly id: bigint;
  readonly name: string;
  readonly did: "updated" | "withdrawn" | "restored" | "kept";
  /** From what to what; of `kept` fields from what is here to what the list says. */
  readonly fields: readonly FieldReport[];
  readonly kept: readonly FieldReport[];
}

/** Animals that are reported one by one. */
export const reportsMax = 200;

/** Whose list it is. */
export interface PlannedList {
  readonly source: string;
  /** True for an export of this catalogue, which people changed: it is the desk itself. */
  readonly isDesk: boolean;
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
  /** What the list says otherwise than before of animals that are known. */
  readonly entries: NewEntry[] = [];
  /** True if one of them replaces an entry. */
  isSaidAnew = false;
  readonly reports: AnimalReport[] = [];
  readonly keptShown: AnimalReport[] = [];
  readonly identity = { matched: 0, renamed: 0, example: "" };
  readonly list: PlannedList;
  readonly #options: ImportOptions;
  readonly #categories: ImportCategories;
  /** Animals that a name in a whole list means, or may mean. */
  readonly #named = new Set<bigint>();
  /** What the list said last, and where no entry tells it, what events tell. */
  readonly #entries = new Map<string, Entry>();
  readonly #namelessHere = new Map<string, StoreAnimal>();
  readonly #namelessEntry = new Map<bigint, string>();
  readonly #before = new Map<bigint, Said>();

  constructor(options: ImportOptions, categories: ImportCategories, list: PlannedList) {
    this.#options = options;
    this.#categories = categories;
    this.list = list;
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

  /** Takes note of what lists said before of the animals that come next. */
  learn(entries: Iterable<Entry>, before: ReadonlyMap<bigint, Said>): void {
    for (const each of entries) this.#entries.set(each.entry, each);
    for (const [id, said] of before) this.#before.set(id, said);
  }

  /** Lets go of it: a large list has it of many animals. */
  unlearn(): void {
    this.#entries.clear();
    this.#before.clear();
  }

  learnNameless(known: readonly { readonly entry: Entry; readonly animal: StoreAnimal }[]): void {
    this.learn(
      known.map(({ entry }) => entry),
      new Map(),
    );
    for (const { entry, animal } of known) {
      this.#namelessHere.set(entry.entry, animal);
      this.#namelessEntry.set(animal.id, entry.entry);
    }
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
    const isKnown = new Set(this.#namelessHere.values().map(({ id }) => id));
    const here = Map.groupBy(
      nameless.filter(({ id }) => !isKnown.has(id)),
      animalKey,
    );
    const isWhole = this.#options.complete === true;
    for (const [key, all] of Map.groupBy(records, this.#keyOf)) {
      const [record] = all;
      const entry = record && namelessEntryOf(record);
      const known = all.length === 1 ? this.#namelessHere.get(entry ?? "") : undefined;
      const animals = known === undefined ? (here.get(key) ?? []) : [known];
      const [animal] = animals;
      if (!isWhole || animal === undefined) {
        for (const each of all) this.#add(each);
        if (animal !== undefined) this.alike.push(...all);
        continue;
      }
      for (const each of animals) this.#named.add(each.id);
      if (all.length === 1 && animals.length === 1 && record !== undefined) {
        this.#change(record, animal, entry);
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
      this.#change(record, animal, record.externalId ?? this.#wholeEntry(record));
    }
    this.added = this.added.filter((each) => !same.has(each));
    this.counts.added -= same.size;
  }

  /** Hides an animal whose status the list calls by a word that is not explained. */
  unexplained(animal: StoreAnimal): void {
    const { id, externalId, isRemoved, ...state } = animal;
    if (isRemoved || state.status !== "available" || externalId === null) return;
    this.counts.waiting += 1;
    const before = { ...state, externalId };
    const category = { id: state.categoryId, name: undefined };
    this.events.push({ petId: id, before, after: { ...before, status: null }, category });
    const word = this.#categories.nameOf(state.categoryId);
    const known = this.#entries.get(externalId);
    this.#say({
      entry: externalId,
      petId: null,
      presence: "there",
      name: known?.name ?? state.name,
      category: known?.category ?? word,
      status: null,
    });
    const fields = [{ field: "status", before: "available", after: null } as const];
    this.#report({ id, name: state.name, did: "updated", fields, kept: [] });
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
    return this.unnamed(animals).filter((animal) => {
      const said = { presence: "left out", name: null, category: null, status: null } as const;
      const entry = animal.externalId ?? this.#namelessEntry.get(animal.id);
      const decision = this.#decide(said, animal, entry);
      if (decision.does === "withdraws") return true;
      this.#keep(animal, decision, said);
      return false;
    });
  }

  /** Withdraws animals of a source that its whole list does not have. */
  absent(missing: readonly StoreAnimal[]): void {
    this.counts.missing += missing.length;
    for (const animal of missing) {
      this.#withdraw(animal);
      const { id, externalId, name, categoryId } = animal;
      const key = namelessKey(name, this.#categories.nameOf(categoryId));
      const entry = externalId ?? this.#namelessEntry.get(id) ?? key;
      const petId = externalId === null ? id : null;
      this.#say({ ...leftOut(this.#calledBefore(animal, entry)), entry, petId });
    }
  }

  /** The list leaves animals out that people removed: listed again, they come back. */
  removedAbsent(entries: readonly Entry[]): void {
    this.learn(entries, new Map());
    for (const each of entries) this.#say({ ...leftOut(each), entry: each.entry, petId: null });
    const isListed = (id: bigint) => this.#named.has(id);
    for (const [entry, animal] of this.#namelessHere) {
      const known = this.#entries.get(entry);
      if (!animal.isRemoved || isListed(animal.id) || known?.presence !== "there") continue;
      this.#say({ ...leftOut(known), entry, petId: animal.id });
    }
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

  /** Counts animals that have another name in the list than it said, and than they have here. */
  #compareNames({ name = "", externalId }: SoundRecord, animal: StoreAnimal): void {
    if (externalId === undefined || name === "" || animal.name === "") return;
    const said = this.#entries.get(externalId)?.name ?? this.#before.get(animal.id)?.name;
    const names = [animal.name, said ?? animal.name].map(categoryKey);
    this.identity.matched += 1;
    if (names.includes(categoryKey(name))) return;
    this.identity.renamed += 1;
    this.identity.example ||= `${JSON.stringify(animal.name)} for ${JSON.stringify(name)}`;
  }

  #decide(now: Said, animal: StoreAnimal, entry: string | undefined): Decision {
    const { isRemoved, name, status } = animal;
    const here = { isRemoved, name, status, category: categoryMark(animal.categoryId) };
    const stored = entry === undefined ? undefined : this.#entries.get(entry);
    const last = stored && {
      ...stored,
      category: stored.category === null ? null : this.#categories.markOf(stored.category),
    };
    const { isDesk } = this.list;
    return decide(
      last ?? this.#before.get(animal.id),
      now,
      here,
      isDesk || this.#options.listWins === true,
    );
  }

  #change(record: SoundRecord, animal: StoreAnimal, entry: string | undefined): void {
    const isGone = record.kind === "gone";
    if (isGone && this.#options.keepGone === true) return;
    const category = this.categoryOf(record);
    if (category === undefined && !isGone) return;
    const now: Said = {
      presence: isGone ? "gone" : "there",
      name: record.name ?? null,
      category: category ? this.#markOf(category) : null,
      status: isGone ? null : (record.status ?? null),
    };
    const decision = this.#decide(now, animal, entry);
    if (entry !== undefined) this.#sayOf(record, animal, entry);
    this.#keep(animal, decision, now, category);
    if (decision.does === "withdraws") this.#withdraw(animal);
    else if (isGone) return;
    else if (animal.isRemoved && decision.does === "nothing") this.counts.unchanged += 1;
    else this.#set(record, animal, decision, category ?? { id: undefined, name: undefined });
  }

  /** Gives an animal what is taken of its list. */
  #set(
    record: Candidate,
    animal: StoreAnimal,
    { takes }: Decision,
    category: ResolvedCategory,
  ): void {
    const { id: petId, isRemoved, ...before } = animal;
    const own: ResolvedCategory = { id: before.categoryId, name: undefined };
    // A list that does not say whose it is leaves what is known. Names are those of a whole list.
    const { source } = record;
    const isSourced = record.externalId !== undefined || this.#options.complete === true;
    const after: PetState = {
      ...before,
      ...(takes.includes("name") && { name: record.name }),
      ...(takes.includes("status") && { status: record.status ?? null }),
      ...(takes.includes("category") && { categoryId: category.id ?? before.categoryId }),
      externalId: record.externalId ?? before.externalId,
      source: isSourced && source !== "" ? source : before.source,
    };
    const isOther = takes.includes("category") || differs(before, after);
    const did = isRemoved ? "restored" : "updated";
    const event = { petId, after, category: takes.includes("category") ? category : own };
    if (isRemoved) {
      this.counts.added += 1;
      this.events.push({ ...event, before: null, former: isOther ? before : undefined });
    } else if (isOther) {
      this.counts.updated += 1;
      this.events.push({ ...event, before });
    } else {
      this.counts.unchanged += 1;
      return;
    }
    const values = this.#valuesOf(record, category);
    const fields = takes.map((field) => this.#fieldReport(field, animal, values));
    this.#report({ id: petId, name: before.name, did, fields, kept: [] });
  }

  /** Counts and shows an animal that people changed otherwise than its list says. */
  #keep(animal: StoreAnimal, { kept }: Decision, now: Said, category?: ResolvedCategory): void {
    if (kept.length === 0) return;
    this.counts.kept += 1;
    if (this.keptShown.length === reportsMax) return;
    const { id, name, isRemoved } = animal;
    const values = {
      name: now.name,
      status: now.status,
      category: category === undefined ? null : this.#nameOf(category),
    };
    const fields = kept.map((field): FieldReport =>
      field === "presence"
        ? { field, before: isRemoved ? "gone" : "there", after: isRemoved ? "there" : "gone" }
        : this.#fieldReport(field, animal, values),
    );
    this.keptShown.push({ id, name, did: "kept", fields: [], kept: fields });
  }

  #valuesOf(record: Candidate, category: ResolvedCategory): Values {
    return {
      name: record.name,
      status: record.status ?? null,
      category: this.#nameOf(category),
    };
  }

  #fieldReport(field: ListField, animal: StoreAnimal, after: Values): FieldReport {
    const { name, status, categoryId } = animal;
    const here: Values = { name, status, category: this.#categories.nameOf(categoryId) };
    return { field, before: here[field], after: after[field] };
  }

  #nameOf({ id, name }: ResolvedCategory): string {
    return name ?? (id === undefined ? "" : this.#categories.nameOf(id));
  }

  #markOf({ id, name = "" }: ResolvedCategory): string {
    return id === undefined ? categoryKey(name) : categoryMark(id);
  }

  #report(each: AnimalReport): void {
    if (this.reports.length < reportsMax) this.reports.push(each);
  }

  /** Stores what the list says of an animal from now on. One that goes keeps its last name. */
  #sayOf(record: SoundRecord, animal: StoreAnimal, entry: string): void {
    if (this.list.isDesk) return;
    const petId = record.externalId === undefined ? animal.id : null;
    if (record.kind === "gone") {
      this.#say({
        entry,
        petId,
        presence: "gone",
        status: null,
        ...this.#calledBefore(animal, entry),
      });
      return;
    }
    const { name, status = null, category } = record;
    this.#say({ entry, petId, presence: "there", name, category: wordFor(category), status });
  }

  /** What the list called an animal, as far as that is known. */
  #calledBefore({ id }: StoreAnimal, entry: string): Pick<NewEntry, "name" | "category"> {
    const known = this.#entries.get(entry);
    const before = this.#before.get(id);
    return {
      name: known?.name ?? before?.name ?? null,
      category: known?.category ?? before?.category?.slice(categoryMark("").length) ?? null,
    };
  }

  #say(said: NewEntry): void {
    if (this.list.isDesk) return;
    const known = this.#entries.get(said.entry);
    const isSame =
      known !== undefined &&
      known.presence === said.presence &&
      listFields.every((field) => known[field] === said[field]);
    if (isSame) return;
    this.isSaidAnew ||= known !== undefined;
    this.entries.push(said);
  }

  /** The entry of a record without an id, in a whole list. */
  #wholeEntry(record: SoundRecord): string | undefined {
    return this.#options.complete === true ? namelessEntryOf(record) : undefined;
  }

  /** The entries of animals that are new, whose ids are known where they have none elsewhere. */
  newEntries(
    records: readonly Candidate[],
    idOf: (record: Candidate) => bigint | undefined,
  ): NewEntry[] {
    if (this.list.isDesk) return [];
    return records.flatMap((record) => {
      const { externalId, name, status = null, category } = record;
      const entry = externalId ?? this.#wholeEntry(record);
      const petId = externalId === undefined ? idOf(record) : null;
      if (entry === undefined || petId === undefined) return [];
      return { entry, petId, presence: "there", name, category: wordFor(category), status };
    });
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
    const { id, name } = animal;
    const fields = [{ field: "presence", before: "there", after: "gone" } as const];
    this.#report({ id, name, did: "withdrawn", fields, kept: [] });
  }

  #add(record: SoundRecord): void {
    if (record.kind !== "pet") return;
    this.added.push(record);
    this.counts.added += 1;
  }
}

interface Values {
  readonly name: string | null;
  readonly category: string | null;
  readonly status: PetStatus | null;
}

const leftOut = ({ name, category }: Pick<Entry, "name" | "category">) => {
  return { presence: "left out", name, category, status: null } as const;
};

/** What an animal without an id is called in the entries of its list. */
const namelessKey = (name: string, category: string): string =>
  JSON.stringify([categoryKey(name), categoryKey(category)]);

const namelessEntryOf = ({ name = "", category }: SoundRecord): string =>
  namelessKey(name, category === undefined ? "" : wordFor(category));

/** A sound record that the store does not take, with all that an import would store of it. */
export function rejectionOf(sound: SoundRecord, field: string, problem: Message): Rejection {
  const { line, id, name, category, externalId, source } = sound;
  const status = sound.kind === "pet" ? (sound.status ?? null) : "gone";
  const record = { id, name, category: category?.name ?? category?.id, status, externalId };
  return { kind: "reject", line, source, externalId, field, problem, record };
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

const nameKey = (name: string, category: string) => `${categoryKey(name)}\0${category}`;

const animalKey = ({ name, categoryId }: StoreAnimal) => nameKey(name, String(categoryId));

/** False where ids or sources say that they are two: equal ids are one animal's in one source. */
function mayBeSame({ externalId, source }: SoundRecord, animal: StoreAnimal): boolean {
  if (source !== "" && animal.source !== "" && source !== animal.source) return false;
  if (externalId === undefined || animal.externalId === null) return true;
  const plain = (id: string, of: string) => (of === "" ? id : id.slice(idPrefix(of).length));
  return (
    source !== animal.source &&
    plain(externalId, source) === plain(animal.externalId, animal.source)
  );
}

/** True if it makes no difference which of the records is which of the animals. */
function isSameState(records: readonly SoundRecord[], animals: readonly StoreAnimal[]): boolean {
  const said = records.map((each) => (each.kind === "pet" ? (each.status ?? "") : "gone"));
  const known = animals.map(({ status }) => status ?? "");
  return said.toSorted().join() === known.toSorted().join();
}
