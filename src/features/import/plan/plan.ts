/** What becomes of the animals of a list and of the store, in memory. */
import { and, eq, inArray, isNull, sql, type SQL } from "drizzle-orm";
import type { Tx } from "../../../storage/database.ts";
import { categoryKey } from "../../animals/categories.ts";
import {
  batches,
  eventFields,
  type PetEvent,
  type PetState,
  stateOf,
} from "../../animals/changes.ts";
import { message, Notes } from "../messages.ts";
import type { AnimalReport } from "../report.ts";
import type { Candidate, Rejection, SoundRecord } from "../understand/record.ts";
import type { ImportCategories } from "./categories.ts";
import * as lists from "./said.ts";

export interface ImportOptions {
  /** Makes new categories. By default only a catalogue without any gets them. */
  readonly createCategories?: boolean | undefined;
  /** Ids of categories that new names of the list mean here, which is remembered. */
  readonly meant?: ReadonlyMap<string, bigint> | undefined;
  /** Takes over the rest when records are rejected; otherwise nothing is. */
  readonly skipBad?: boolean | undefined;
  /** The input is the source's whole list: its other animals are gone. */
  readonly complete?: boolean | undefined;
  /** Withdraws more than half of a source's animals when its whole list has no more. */
  readonly confirmed?: boolean | undefined;
  /** The list is right of every animal, whatever people changed. */
  readonly listWins?: boolean | undefined;
  /** Which of those that a whole list lacks are withdrawn, in place of the rules for people. */
  readonly withdraws?: ((lacking: Lacking) => Promise<readonly lists.StoreAnimal[]>) | undefined;
  /** Whether the record on a line is the one animal here of its name and category, or a new one. */
  readonly isSame?: ((line: number) => boolean) | undefined;
}

export interface Lacking {
  readonly tx: Tx;
  readonly missing: readonly lists.StoreAnimal[];
  /** How many animals of the source are here. */
  readonly sourceAnimals: number;
  readonly rejections: readonly Rejection[];
  /** Why the list may not be whole, so that nobody may be withdrawn. */
  readonly partial: string | undefined;
}

export interface PlannedList {
  readonly source: string;
  /** True for an export of this catalogue, which people changed: it is the desk itself. */
  readonly isDesk: boolean;
  /** True where names identify animals without ids. */
  readonly isWhole: boolean;
}

export const reportsMax = 200;

/** Which animal each record means, by its ids or its name, and what becomes of all of them. */
export class Plan {
  readonly events: (PetEvent & { readonly after: PetState | null })[] = [];
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
  readonly changed: AnimalReport[] = [];
  readonly kept: AnimalReport[] = [];
  /** Animals that ids match, and those of them that are called otherwise. */
  readonly identity = { matched: 0, renamed: 0, example: "" };
  /** What the list says otherwise than before. */
  readonly entries: lists.Entry[] = [];
  /** Records of new animals. */
  added: Candidate[] = [];
  readonly rejections: Rejection[] = [];
  readonly notes = new Notes();
  /** Records that may be the one animal here of their name and category. */
  readonly lookalikes: { readonly record: SoundRecord; readonly animal: lists.StoreAnimal }[] = [];
  /** Animals that a record means, or may mean, and the ids elsewhere that records have. */
  readonly #meant = new Set<bigint>();
  readonly #named = new Set<string | undefined>();
  /** What a whole list calls animals without ids, by the animal. */
  #nameless: ReadonlyMap<bigint, string> = new Map();

  constructor(
    private readonly tx: Tx,
    readonly list: PlannedList,
    private readonly categories: ImportCategories,
    private readonly options: ImportOptions,
  ) {}

  /** Takes records that have an id, with the animals that have it. */
  async takeByIds(records: readonly SoundRecord[]): Promise<void> {
    const find = await lists.animalsOf(this.tx, records);
    const matches: lists.Match[] = [];
    for (const record of records) {
      this.#named.add(record.externalId);
      const animal = find(record);
      if (animal !== undefined && !this.#meant.has(animal.id)) {
        this.#meant.add(animal.id);
        matches.push({ record, animal, entry: record.externalId });
        continue;
      }
      // What is gone, and not here under this id, leaves nothing to withdraw. It is no fault.
      if (record.kind === "gone") continue;
      if (animal === undefined && record.id === undefined) this.added.push(record);
      else {
        const problem = animal ? message("animalTwice") : message("idUnknown", String(record.id));
        this.rejections.push(lists.rejectionOf(record, "id", problem));
      }
    }
    await this.#take(matches);
  }

  /**
   * Takes records without any id. In a whole list a name and category identify an animal where both
   * occur once, in the list and among the animals without ids; what occurs more than once is not
   * matched.
   */
  async takeByNames(records: readonly SoundRecord[]): Promise<void> {
    const { tx, list } = this;
    const { pets } = tx.t;
    if (list.isWhole && !list.isDesk) this.#nameless = await lists.namelessEntries(tx, list.source);
    const ids = [...this.#nameless.keys()];
    const own = await lists.animalsWhere(tx, ({ id }) => lists.isAmong(tx, id, ids));
    const free = own.filter(({ id }) => !this.#meant.has(id));
    const called = Map.groupBy(free, ({ id }) => this.#nameless.get(id));
    const groups = Map.groupBy(records, this.#keyOf);
    const isNobodys = inArray(pets.source, list.isWhole ? ["", list.source] : [""]);
    const others = await this.#calledLike(groups, and(isNobodys, isNull(pets.externalId)));
    const matches: lists.Match[] = [];
    for (const [key, all] of groups) {
      const [record] = all;
      const entry = record && all.length === 1 ? lists.namelessEntryOf(record) : "";
      const unknown = others.get(key)?.filter(({ id }) => !this.#nameless.has(id));
      const animals = called.get(entry) ?? unknown ?? [];
      const [animal] = animals;
      if (record === undefined || animal === undefined || !list.isWhole) {
        this.added.push(...all.filter((each) => each.kind === "pet"));
        if (animal !== undefined && this.options.isSame === undefined) this.#noteAlike(all);
        continue;
      }
      for (const { id } of animals) this.#meant.add(id);
      if (all.length === 1 && animals.length === 1) matches.push({ record, animal, entry });
      else if (lists.isSameState(all, animals)) this.counts.unchanged += animals.length;
      else {
        const name = JSON.stringify(record.name ?? "Unnamed");
        const problem = message("sameName", name, String(all.length), String(animals.length));
        this.rejections.push(...all.map((each) => lists.rejectionOf(each, "name", problem)));
      }
    }
    await this.#take(matches);
  }

  /** Takes new animals for those here that are called like them, where `isSame` says so. */
  async recognise(isSame: (line: number) => boolean): Promise<void> {
    const groups = Map.groupBy(this.added, this.#keyOf);
    const here = await this.#calledLike(groups, sql`true`);
    const matches: lists.Match[] = [];
    for (const [key, all] of groups) {
      const isLike = (animal: lists.StoreAnimal) =>
        all.some((each) => lists.mayBeSame(each, animal));
      const animals = here.get(key)?.filter(isLike) ?? [];
      const [record] = all;
      const [animal] = animals;
      if (record === undefined || animal === undefined) continue;
      if (all.length > 1 || animals.length > 1) {
        this.#noteAlike(all);
        continue;
      }
      this.lookalikes.push({ record, animal });
      if (!isSame(record.line)) continue;
      this.#meant.add(animal.id);
      const nameless = this.list.isWhole ? lists.namelessEntryOf(record) : undefined;
      matches.push({ record, animal, entry: record.externalId ?? nameless });
    }
    const same = new Set(matches.map(({ record }) => record));
    this.added = this.added.filter((each) => !same.has(each));
    await this.#take(matches);
  }

  /** New animals whose name and category an animal here has, that no id identifies. */
  #noteAlike(records: readonly SoundRecord[]): void {
    for (const { line, name = "" } of records) {
      this.notes.add(message("alikeThere"), line, JSON.stringify(name));
    }
  }

  /** Animals that are called like groups of records, but those that a record means. */
  async #calledLike(groups: ReadonlyMap<string, unknown>, where: SQL | undefined) {
    const found: lists.StoreAnimal[] = [];
    for await (const page of groups.size === 0 ? [] : lists.pagesOf(this.tx, where)) {
      const isFree = (each: lists.StoreAnimal) => !this.#meant.has(each.id);
      found.push(...page.filter((each) => isFree(each) && groups.has(lists.animalKey(each))));
    }
    return Map.groupBy(found, lists.animalKey);
  }

  readonly #keyOf = ({ name = "", category }: SoundRecord): string => {
    const found = category && this.categories.resolve(category);
    const known = typeof found === "bigint" ? String(found) : undefined;
    return lists.nameKey(name, known ?? `new ${categoryKey(category?.name ?? "")}`);
  };

  async #take(matches: readonly lists.Match[]): Promise<void> {
    for (const part of batches(matches)) {
      const said = await lists.lastSaid(this.tx, this.list, part);
      for (const match of part) this.#takeOne(match, said.get(match.animal.id));
    }
  }

  /** Counts animals that the list calls otherwise than it did, and than they are called here. */
  #compareNames({ record, animal: { name } }: lists.Match, last: lists.Entry | undefined): void {
    const { name: listed = "", externalId } = record ?? {};
    if (externalId === undefined || listed === "" || name === "") return;
    this.identity.matched += 1;
    if ([name, last?.name ?? name].map(categoryKey).includes(categoryKey(listed))) return;
    this.identity.renamed += 1;
    this.identity.example ||= `${JSON.stringify(name)} for ${JSON.stringify(listed)}`;
  }

  #takeOne(match: lists.Match, last: lists.Entry | undefined): void {
    const { record, animal, entry } = match;
    this.#compareNames(match, last);
    const now = this.#saidBy(record);
    const { takes, kept } = this.#decide(now, animal, last);
    if (kept.length > 0) {
      this.counts.kept += 1;
      this.#report("kept", animal, now, kept);
    }
    const isTaken = takes.includes("presence");
    if (record?.kind !== "pet") {
      // A whole list left out before whom people brought back.
      const isSaid = record !== undefined || isTaken;
      if (entry !== undefined && isSaid)
        this.#say(lists.goneEntry(animal, entry, now.presence, last), last);
      if (isTaken) this.#change("withdrawn", animal, null, now, takes);
      return;
    }
    if (entry !== undefined) this.#say(lists.entryOf(record, entry, animal.id), last);
    const after = this.#after(record, animal, takes);
    if (isTaken) this.#change("added", animal, after, now, takes);
    else if (animal.isRemoved || isSame(animal, after)) this.counts.unchanged += 1;
    else this.#change("updated", animal, after, now, takes);
  }

  #saidBy(record: SoundRecord | undefined): lists.Said {
    const presence = record === undefined ? "left out" : "gone";
    if (record?.kind !== "pet") return { presence, name: null, category: null, status: null };
    const { name, status = null } = record;
    return { presence: "there", name, category: this.categories.idOf(record.category), status };
  }

  #decide(
    now: lists.Said,
    animal: lists.StoreAnimal,
    last: lists.Entry | undefined,
  ): lists.Decision {
    const word = last?.category ?? null;
    const category = word === null ? null : this.categories.meaningOf(word);
    const isRight = this.list.isDesk || this.options.listWins === true;
    return lists.decide(last && { ...last, category }, now, lists.hereOf(animal), isRight);
  }

  #after(record: Candidate, animal: lists.StoreAnimal, takes: lists.Decision["takes"]): PetState {
    const { name, category, status = null, externalId, source } = record;
    // A list that does not say whose it is leaves what is known. Names are those of a whole list.
    const isSourced = externalId !== undefined || this.list.isWhole;
    return {
      ...stateOf(animal),
      name: takes.includes("name") || name === lists.hereOf(animal).name ? name : animal.name,
      ...(takes.includes("category") && { categoryId: this.categories.idOf(category) }),
      ...(takes.includes("status") && { status }),
      externalId: externalId ?? animal.externalId,
      ...(isSourced && source !== "" && { source }),
    };
  }

  #say(said: lists.Entry, last: lists.Entry | undefined): void {
    const fields = ["entry", "presence", ...lists.listFields] as const;
    const isAsBefore = last !== undefined && fields.every((field) => last[field] === said[field]);
    if (!this.list.isDesk && !isAsBefore) this.entries.push(said);
  }

  #change(
    did: "added" | "updated" | "waiting" | "withdrawn",
    animal: lists.StoreAnimal,
    after: PetState | null,
    now: lists.Said,
    fields: lists.Decision["takes"],
  ): void {
    const { id: petId, isRemoved } = animal;
    const was = stateOf(animal);
    const former = isRemoved && after !== null && !isSame(was, after) ? was : undefined;
    this.counts[did] += 1;
    this.events.push({ petId, before: isRemoved ? null : was, after, former });
    const told = fields.filter((field) => field !== "presence" || after === null);
    const shown = isRemoved ? "restored" : "updated";
    this.#report(after === null ? "withdrawn" : shown, animal, now, told);
  }

  #report(
    did: AnimalReport["did"],
    animal: lists.StoreAnimal,
    now: lists.Said,
    fields: lists.Decision["kept"],
  ): void {
    const to = did === "kept" ? this.kept : this.changed;
    if (to.length === reportsMax) return;
    const shown = ({ category, presence, ...others }: lists.Said) => ({
      ...others,
      category: category === null ? null : this.categories.nameOf(category),
      presence: presence === "there" ? "there" : "gone",
    });
    const [before, after] = [shown(lists.hereOf(animal)), shown(now)];
    const told = fields.map((field) => {
      return { field, before: before[field], after: after[field] };
    });
    to.push({ id: animal.id, name: animal.name, did, fields: told });
  }

  /**
   * Takes of bad records what hides their animals: a status further from adoption, or a word for it
   * that is not explained. Where those of one animal disagree, nothing tells which of them holds.
   */
  async hide(bad: readonly Rejection[]): Promise<void> {
    if (this.list.isDesk) return;
    const isOpen = ({ externalId, unknownStatus, status }: Rejection) =>
      (unknownStatus ?? status) !== undefined && !this.#named.has(externalId);
    const alike = Map.groupBy(bad.filter(isOpen), ({ externalId }) => externalId).values();
    const agreed = [...alike].flatMap((all) =>
      all.every(({ status }) => status === all[0]?.status) ? all.slice(0, 1) : [],
    );
    const find = await lists.animalsOf(this.tx, agreed);
    const found = agreed.flatMap((each) => {
      const animal = find(each);
      return animal === undefined ? [] : { ...each, animal, entry: each.externalId };
    });
    const said = await lists.lastSaid(this.tx, this.list, found);
    for (const { animal, entry = "", status = null, unknownStatus } of found) {
      const last = said.get(animal.id);
      const isUnknown = unknownStatus !== undefined;
      // A word that nobody explained takes nothing of an animal that is reserved.
      const isTold =
        lists.isFurther(status, animal.status) && (!isUnknown || animal.status === "available");
      // Somebody has decided otherwise since the list said so.
      const isSaid = last?.presence === "there" && last.status === status;
      if (animal.isRemoved || !isTold || isSaid) continue;
      const now = { ...this.#saidBy(undefined), status };
      const did = isUnknown ? "waiting" : "updated";
      this.#change(did, animal, { ...stateOf(animal), status }, now, ["status"]);
      const category = last?.category ?? this.categories.nameOf(animal.categoryId);
      const name = last?.name ?? animal.name;
      this.#say({ entry, petId: null, presence: "there", name, category, status }, last);
    }
  }

  /**
   * Withdraws what a whole list lacks, but for animals that it left out before: people brought them
   * back. Returns how many animals of its source are here.
   */
  async leaveOut(rejections: readonly Rejection[], partial: string | undefined): Promise<number> {
    const { tx, list, categories } = this;
    let sourceAnimals = 0;
    const unlisted: lists.Match[] = [];
    for await (const page of lists.pagesOf(tx, eq(tx.t.pets.source, list.source))) {
      sourceAnimals += page.length;
      for (const animal of page.filter(({ id }) => !this.#meant.has(id))) {
        const { id, externalId, name, categoryId } = animal;
        const called = () => lists.namelessKey(name, categories.nameOf(categoryId));
        unlisted.push({ animal, entry: externalId ?? this.#nameless.get(id) ?? called() });
      }
    }
    const last = await lists.lastSaid(tx, list, unlisted);
    const leftOut = this.#saidBy(undefined);
    const missing = unlisted
      .map(({ animal }) => animal)
      .filter((animal) => this.#decide(leftOut, animal, last.get(animal.id)).takes.length > 0);
    const lacking = { tx, missing, sourceAnimals, rejections, partial };
    const going = (await this.options.withdraws?.(lacking)) ?? missing;
    this.counts.missing += going.length;
    const staying = new Set(missing).difference(new Set(going));
    for (const each of unlisted) {
      if (!staying.has(each.animal)) this.#takeOne(each, last.get(each.animal.id));
    }
    // A record in error may be that of anybody.
    const inError = new Set(rejections.map(({ externalId }) => externalId));
    if (list.isDesk || partial !== undefined || inError.has(undefined)) return sourceAnimals;
    for (const each of await lists.entriesOfRemoved(tx, list.source)) {
      const { entry, petId } = each;
      const isListed = petId === null ? this.#named.has(entry) : this.#meant.has(petId);
      if (isListed || inError.has(entry)) continue;
      this.entries.push({ ...each, presence: "left out", status: null });
    }
    return sourceAnimals;
  }
}

const isSame = (one: PetState, other: PetState) =>
  eventFields.every((field) => one[field] === other[field]);
