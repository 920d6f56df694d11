/** What a list said last of its animals, and what it says from now on. */
import { categoryKey } from "../../animals/categories.ts";
import type { Candidate, SoundRecord } from "../understand/record.ts";
import { type ImportCategories, wordFor } from "./categories.ts";
import { decide, type Decision, listFields, type Said } from "./desk.ts";
import { categoryMark, type Entry, type NewEntry } from "./entries.ts";
import type { StoreAnimal } from "./store.ts";

/** Whose list it is. */
export interface PlannedList {
  readonly source: string;
  /** True for an export of this catalogue, which people changed: it is the desk itself. */
  readonly isDesk: boolean;
  /** True where names identify animals without ids. */
  readonly isWhole: boolean;
  /** True if the list is right of every animal, whatever people changed. */
  readonly wins: boolean;
}

export class ListMemory {
  readonly list: PlannedList;
  /** What the list says otherwise than before of animals that are known. */
  readonly entries: NewEntry[] = [];
  /** True if one of them replaces an entry. */
  isSaidAnew = false;
  /** Animals without ids by what the list calls them. */
  readonly nameless = new Map<string, StoreAnimal>();
  readonly #entryOf = new Map<bigint, string>();
  readonly #categories: ImportCategories;
  readonly #known = new Map<string, Entry>();
  /** What events tell, where there is no entry. */
  readonly #before = new Map<bigint, Said>();

  constructor(list: PlannedList, categories: ImportCategories) {
    this.list = list;
    this.#categories = categories;
  }

  /** Takes note of what was said before of the animals that come next. */
  learn(entries: Iterable<Entry>, before: ReadonlyMap<bigint, Said> = new Map()): void {
    for (const each of entries) this.#known.set(each.entry, each);
    for (const [id, said] of before) this.#before.set(id, said);
  }

  learnNameless(known: readonly { readonly entry: Entry; readonly animal: StoreAnimal }[]): void {
    this.learn(known.map(({ entry }) => entry));
    for (const { entry, animal } of known) {
      this.nameless.set(entry.entry, animal);
      this.#entryOf.set(animal.id, entry.entry);
    }
  }

  /** Lets go of what was learnt: a large list has it of many animals. */
  unlearn(): void {
    this.#known.clear();
    this.#before.clear();
  }

  /** What becomes of an animal of which the list says `now`. */
  decide(now: Said, animal: StoreAnimal, entry = this.entryOf(animal)): Decision {
    const { isRemoved, name, status } = animal;
    const here = { isRemoved, name, status, category: categoryMark(animal.categoryId) };
    const stored = this.#known.get(entry);
    const last = stored && {
      ...stored,
      category: stored.category === null ? null : this.#categories.markOf(stored.category),
    };
    const { isDesk, wins } = this.list;
    return decide(last ?? this.#before.get(animal.id), now, here, isDesk || wins);
  }

  /** The names of an animal that the list and people use. */
  namesOf({ id, name }: StoreAnimal, entry: string): readonly string[] {
    const said = this.#known.get(entry)?.name ?? this.#before.get(id)?.name ?? name;
    return [name, said].map(categoryKey);
  }

  /** The entry of an animal that is here. */
  entryOf({ id, externalId, name, categoryId }: StoreAnimal): string {
    const called = () => namelessKey(name, this.#categories.nameOf(categoryId));
    return externalId ?? this.#entryOf.get(id) ?? called();
  }

  /** The list has an animal, or says that it is gone. One that goes keeps its last name. */
  says(record: SoundRecord, animal: StoreAnimal, entry: string): void {
    if (record.kind === "gone") return this.#says(animal, entry, "gone");
    const { externalId, name, status = null, category } = record;
    const petId = externalId === undefined ? animal.id : null;
    this.#say({ entry, petId, presence: "there", name, category: wordFor(category), status });
  }

  /** The list uses a word for the status that nobody explained. */
  saysUnknown(animal: StoreAnimal, entry: string): void {
    const { name, category } = this.#called(animal.id, entry);
    const word = category ?? this.#categories.nameOf(animal.categoryId);
    const said = { presence: "there", name: name ?? animal.name, category: word } as const;
    this.#say({ entry, petId: null, status: null, ...said });
  }

  leavesOut(animal: StoreAnimal): void {
    this.#says(animal, this.entryOf(animal), "left out");
  }

  /** The list leaves animals out that people removed: listed again, they come back. */
  leavesRemovedOut(entries: readonly Entry[]): void {
    this.learn(entries);
    const isThere = (entry: string) => this.#known.get(entry)?.presence === "there";
    for (const { entry } of entries) this.#sayAbsent(entry, null, 0n, "left out");
    for (const [entry, { id, isRemoved }] of this.nameless) {
      if (isRemoved && isThere(entry)) this.#sayAbsent(entry, id, id, "left out");
    }
  }

  #says({ id, externalId }: StoreAnimal, entry: string, presence: "gone" | "left out"): void {
    this.#sayAbsent(entry, externalId === null ? id : null, id, presence);
  }

  #sayAbsent(
    entry: string,
    petId: bigint | null,
    animal: bigint,
    presence: "gone" | "left out",
  ): void {
    this.#say({ entry, petId, presence, status: null, ...this.#called(animal, entry) });
  }

  /** What the list called an animal, as far as that is known. */
  #called(animal: bigint, entry: string): Pick<NewEntry, "name" | "category"> {
    const known = this.#known.get(entry);
    const before = this.#before.get(animal);
    return {
      name: known?.name ?? before?.name ?? null,
      category: known?.category ?? before?.category?.slice(categoryMark("").length) ?? null,
    };
  }

  #say(said: NewEntry): void {
    if (this.list.isDesk) return;
    const known = this.#known.get(said.entry);
    const isSame =
      known !== undefined &&
      known.presence === said.presence &&
      listFields.every((field) => known[field] === said[field]);
    if (isSame) return;
    this.isSaidAnew ||= known !== undefined;
    this.entries.push(said);
  }

  /** The entry of a record; undefined for one without an id in a list that is not whole. */
  entryFor(record: SoundRecord): string | undefined {
    return record.externalId ?? (this.list.isWhole ? namelessEntryOf(record) : undefined);
  }

  /** The entries of new animals, with their ids here for those that have none elsewhere. */
  newEntries(
    records: readonly Candidate[],
    idOf: (record: Candidate) => bigint | undefined,
  ): NewEntry[] {
    if (this.list.isDesk) return [];
    return records.flatMap((record) => {
      const { externalId, name, status = null, category } = record;
      const entry = this.entryFor(record);
      const petId = externalId === undefined ? idOf(record) : null;
      if (entry === undefined || petId === undefined) return [];
      return { entry, petId, presence: "there", name, category: wordFor(category), status };
    });
  }
}

/** What an animal without an id is called in the entries of its list. */
const namelessKey = (name: string, category: string): string =>
  JSON.stringify([categoryKey(name), categoryKey(category)]);

export const namelessEntryOf = ({ name = "", category }: SoundRecord): string =>
  namelessKey(name, category === undefined ? "" : wordFor(category));
