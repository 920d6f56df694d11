/** What a list said last of its animals, and what it says from now on. */
import { and, isNull, type SQL } from "drizzle-orm";
import type { PetStatus } from "../../../domain/pet.ts";
import type { Tx } from "../../../storage/database.ts";
import { categoryKey } from "../../animals/categories.ts";
import type { SoundRecord } from "../understand/record.ts";
import { type ImportCategories, wordFor } from "./categories.ts";
import { decide, type Decision, listFields, type Said } from "./desk.ts";
import { type Entry, storeEntries } from "./entries.ts";
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
  readonly entries: Entry[] = [];
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
    const { isRemoved, status, categoryId: category } = animal;
    const here = { isRemoved, status, category, name: nameOf(animal.name) };
    const stored = this.#known.get(entry);
    const last = stored && {
      presence: stored.presence,
      name: stored.name,
      category: stored.category === null ? null : this.#categories.meaningOf(stored.category),
      status: stored.status,
    };
    const { isDesk, wins } = this.list;
    const before = this.#before.get(animal.id);
    const known = before && { ...before, name: before.name && nameOf(before.name) };
    return decide(last ?? known, now, here, isDesk || wins);
  }

  /** True for a name that people use of an animal, or that the list used. */
  isCalled({ id, name }: StoreAnimal, entry: string, listed: string): boolean {
    const said = this.#known.get(entry)?.name ?? this.#before.get(id)?.name ?? name;
    if (listed === name || listed === said) return true;
    return [name, said].map(categoryKey).includes(categoryKey(listed));
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

  /** True if the list said this status of the animal last; null for a word that is not known. */
  hasSaid(entry: string, status: PetStatus | null): boolean {
    const known = this.#known.get(entry);
    return known?.presence === "there" && known.status === status;
  }

  /** The list says a status in a record that says nothing else. */
  saysStatus(animal: StoreAnimal, entry: string, status: PetStatus | null): void {
    const { name, category } = this.#called(animal.id, entry);
    const word = category ?? this.#categories.nameOf(animal.categoryId);
    const said = { presence: "there", name: name ?? animal.name, category: word } as const;
    this.#say({ entry, petId: null, status, ...said });
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
  #called(animal: bigint, entry: string): Pick<Entry, "name" | "category"> {
    const known = this.#known.get(entry);
    const before = this.#before.get(animal);
    return {
      name: known?.name ?? before?.name ?? null,
      category: known?.category ?? before?.category?.toString() ?? null,
    };
  }

  #say(said: Entry): void {
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
}

/** What an animal without a name was called until its name was stored as it is: blank. */
const formerlyUnnamed = "Unnamed";
export const nameOf = (name: string): string => (name === formerlyUnnamed ? "" : name);

/** What an animal without an id is called in the entries of its list. */
const namelessKey = (name: string, category: string): string =>
  JSON.stringify([categoryKey(name), categoryKey(category)]);

export const namelessEntryOf = ({ name = "", category }: SoundRecord): string =>
  namelessKey(name, category === undefined ? "" : wordFor(category));

/** Stores what the list calls animals without ids that a change added, those that `where` means. */
export async function storeNameless(
  tx: Tx,
  source: string,
  changeId: bigint,
  where: SQL,
  words: ReadonlyMap<bigint, string>,
): Promise<void> {
  const { pets } = tx.t;
  const rows = await tx
    .select({ id: pets.id, name: pets.name, categoryId: pets.categoryId, status: pets.status })
    .from(pets)
    .where(and(where, isNull(pets.externalId)));
  const entries = rows.map(({ id: petId, name, categoryId, status }): Entry => {
    const category = words.get(categoryId) ?? "";
    return { entry: namelessKey(name, category), petId, presence: "there", name, category, status };
  });
  // Nothing tells those apart that are called alike.
  const alike = Map.groupBy(entries, ({ entry }) => entry);
  await storeEntries(
    tx,
    source,
    changeId,
    entries.filter(({ entry }) => alike.get(entry)?.length === 1),
  );
}
