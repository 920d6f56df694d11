/** What becomes of the animals of a list and of the store, in memory. */
import type { Tx } from "../../../storage/database.ts";
import { categoryKey } from "../../animals/categories.ts";
import { eventFields, type PetState, stateOf } from "../../animals/changes.ts";
import type { Rejection } from "../understand/record.ts";
import type { AnimalReport } from "../report.ts";
import type { ImportCategories } from "./categories.ts";
import { animalsOf, batches, type Match, type Matching, type PlannedList } from "./match.ts";
import {
  decide,
  type Decision,
  entriesOf,
  entriesOfRemoved,
  type Entry,
  entryOf,
  isFurther,
  listFields,
  type Presence,
  type Said,
  saidBefore,
  type StoreAnimal,
} from "./said.ts";

export interface ImportOptions {
  /** Makes new categories. By default only a catalogue without any gets them. */
  readonly createCategories?: boolean | undefined;
  /** Ids of categories that new names of the list mean here, which is remembered. */
  readonly meant?: ReadonlyMap<string, bigint> | undefined;
  /** Takes over the rest when records are rejected; otherwise nothing is. */
  readonly skipBad?: boolean | undefined;
  /** Takes ids for those of another catalogue; else a record with an unknown id is bad. */
  readonly newIds?: boolean | undefined;
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

export interface Lacking {
  readonly tx: Tx;
  readonly missing: readonly StoreAnimal[];
  /** How many animals of the source are here. */
  readonly sourceAnimals: number;
  readonly rejections: readonly Rejection[];
  /** Why the list may not be whole, so that nobody may be withdrawn. */
  readonly partial: string | undefined;
}

interface PlannedEvent {
  readonly petId: bigint;
  readonly before: PetState | null;
  readonly after: PetState | null;
  readonly former?: PetState | undefined;
}

export const reportsMax = 200;

interface Last extends Said {
  /** Its word for the category. */
  readonly word: string | null;
  /** False where nothing but events tells it. */
  readonly isStored: boolean;
}

const absent: Said = { presence: "left out", name: null, category: null, status: null };

/** What becomes of the animals of a list and of the store. */
export class Plan {
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
  readonly changed: AnimalReport[] = [];
  readonly kept: AnimalReport[] = [];
  /** Animals that ids match, and those of them that are called otherwise. */
  readonly identity = { matched: 0, renamed: 0, example: "" };
  /** What the list says otherwise than before. */
  readonly entries: Entry[] = [];
  /** Of the animals that come next. */
  readonly #last = new Map<bigint, Last>();

  constructor(
    private readonly tx: Tx,
    readonly list: PlannedList,
    private readonly categories: ImportCategories,
    private readonly options: ImportOptions,
  ) {}

  async take(matches: readonly Match[]): Promise<void> {
    await this.#learn(matches);
    for (const each of matches) {
      this.#compareNames(each);
      this.#take(each);
    }
  }

  async #learn(matches: readonly Omit<Match, "record">[]): Promise<void> {
    this.#last.clear();
    if (this.list.isDesk) return;
    const { source } = this.list;
    const names = matches.flatMap(({ entry }) => entry ?? []);
    const entries = await entriesOf(this.tx, source, names);
    const lacking: StoreAnimal[] = [];
    for (const { animal, entry = "" } of matches) {
      const stored = entries.get(entry);
      const word = stored?.category ?? null;
      const category = word === null ? null : this.categories.meaningOf(word);
      if (stored === undefined) lacking.push(animal);
      else this.#last.set(animal.id, { ...stored, category, word, isStored: true });
    }
    for (const [id, said] of await saidBefore(this.tx, source, lacking)) {
      const word = said.category === null ? null : String(said.category);
      this.#last.set(id, { ...said, word, isStored: false });
    }
  }

  /** Counts animals that the list calls otherwise than it did, and than they are called here. */
  #compareNames({ record: { name: listed = "", externalId }, animal: { id, name } }: Match): void {
    if (externalId === undefined || listed === "" || name === "") return;
    this.identity.matched += 1;
    const said = this.#last.get(id)?.name ?? name;
    if ([name, said].map(categoryKey).includes(categoryKey(listed))) return;
    this.identity.renamed += 1;
    this.identity.example ||= `${JSON.stringify(name)} for ${JSON.stringify(listed)}`;
  }

  #take({ record, animal, entry }: Match): void {
    if (record.kind === "gone") {
      const now = { ...absent, presence: "gone" } as const;
      const { does } = this.#decide(now, animal);
      if (entry !== undefined) this.#say(animal, this.#absentEntry(animal, entry, "gone"));
      if (does === "withdraws") this.#withdraw(animal, now);
      return;
    }
    const { name, status = null } = record;
    const category = this.categories.idOf(record.category);
    const now: Said = { presence: "there", name, category, status };
    const { does, takes } = this.#decide(now, animal);
    const petId = record.externalId === undefined ? animal.id : null;
    if (entry !== undefined) this.#say(animal, entryOf(record, entry, petId));
    const before = stateOf(animal);
    const named = name === "" ? nameOf(before.name) : before.name;
    // A list that does not say whose it is leaves what is known. Names are those of a whole list.
    const isSourced = record.externalId !== undefined || this.list.isWhole;
    const after: PetState = {
      ...before,
      name: takes.includes("name") ? name : named,
      ...(takes.includes("category") && { categoryId: category }),
      ...(takes.includes("status") && { status }),
      externalId: record.externalId ?? before.externalId,
      ...(isSourced && record.source !== "" && { source: record.source }),
    };
    if (does === "returns") this.#change("added", animal, after, now, takes);
    else if (animal.isRemoved || isSame(before, after)) this.counts.unchanged += 1;
    else this.#change("updated", animal, after, now, takes);
  }

  #decide(now: Said, animal: StoreAnimal): Decision {
    const { id, isRemoved, status, categoryId: category, name } = animal;
    const here = { isRemoved, status, category, name: nameOf(name) };
    const isRight = this.list.isDesk || this.options.listWins === true;
    const decision = decide(this.#last.get(id), now, here, isRight);
    if (decision.kept.length > 0) {
      this.counts.kept += 1;
      this.#report(this.kept, "kept", animal, now, decision.kept);
    }
    return decision;
  }

  /** One that goes keeps what the list called it last, as far as that is known. */
  #absentEntry({ id, externalId }: StoreAnimal, entry: string, presence: Presence): Entry {
    const { name = null, word: category = null } = this.#last.get(id) ?? {};
    const petId = externalId === null ? id : null;
    return { entry, petId, presence, name, category, status: null };
  }

  #say({ id }: StoreAnimal, said: Entry): void {
    const last = this.#last.get(id);
    const known = last?.isStored === true && { ...last, category: last.word };
    const fields = ["presence", ...listFields] as const;
    const isAsBefore = known && fields.every((field) => known[field] === said[field]);
    if (!this.list.isDesk && !isAsBefore) this.entries.push(said);
  }

  #change(
    count: "added" | "updated" | "waiting",
    animal: StoreAnimal,
    after: PetState,
    now: Said,
    fields: Decision["takes"],
  ): void {
    const { id: petId, isRemoved } = animal;
    const was = stateOf(animal);
    const former = isRemoved && !isSame(was, after) ? was : undefined;
    this.counts[count] += 1;
    this.events.push({ petId, before: isRemoved ? null : was, after, former });
    this.#report(this.changed, isRemoved ? "restored" : "updated", animal, now, fields);
  }

  #withdraw(animal: StoreAnimal, now: Said): void {
    this.counts.withdrawn += 1;
    this.events.push({ petId: animal.id, before: stateOf(animal), after: null });
    this.#report(this.changed, "withdrawn", animal, now, ["presence"]);
  }

  #report(
    to: AnimalReport[],
    did: AnimalReport["did"],
    animal: StoreAnimal,
    now: Said,
    fields: Decision["kept"],
  ): void {
    if (to.length === reportsMax) return;
    const { id, name, status, categoryId, isRemoved } = animal;
    const category = this.categories.nameOf(categoryId);
    const here = { name, status, category, presence: isRemoved ? "gone" : "there" };
    const listed = {
      ...now,
      category: now.category === null ? null : this.categories.nameOf(now.category),
      presence: now.presence === "there" ? "there" : "gone",
    };
    const told = fields.map((field) => ({ field, before: here[field], after: listed[field] }));
    to.push({ id, name, did, fields: told });
  }

  /**
   * Takes of bad records what hides their animals: a status further from adoption, or a word for it
   * that is not explained. Where those of one animal disagree, nothing tells which of them holds.
   */
  async hide(
    rejections: readonly Rejection[],
    named: ReadonlySet<string | undefined>,
  ): Promise<void> {
    if (this.list.isDesk) return;
    const open = rejections.filter(
      ({ externalId, unknownStatus, status }) =>
        (unknownStatus ?? status) !== undefined && !named.has(externalId),
    );
    const alike = [...Map.groupBy(open, ({ externalId }) => externalId).values()];
    const agreed = alike.flatMap((all) =>
      all.every(({ status }) => status === all[0]?.status) ? all.slice(0, 1) : [],
    );
    const find = await animalsOf(this.tx, agreed, true);
    const found = agreed.flatMap((record) => {
      const animal = find(record);
      return animal === undefined ? [] : { record, animal, entry: record.externalId };
    });
    for (const batch of batches(found)) {
      await this.#learn(batch);
      for (const { record, animal, entry = "" } of batch) this.#hide(record, animal, entry);
    }
  }

  #hide({ status: said, unknownStatus }: Rejection, animal: StoreAnimal, entry: string): void {
    const status = said ?? null;
    const isUnknown = unknownStatus !== undefined;
    // A word that nobody explained takes nothing of an animal that is reserved.
    const isTold =
      isFurther(status, animal.status) && (!isUnknown || animal.status === "available");
    // Somebody has decided otherwise since the list said so.
    const last = this.#last.get(animal.id);
    const isSaid = last?.presence === "there" && last.status === status;
    if (animal.isRemoved || !isTold || isSaid) return;
    const after = { ...stateOf(animal), status };
    const now = { ...absent, status };
    this.#change(isUnknown ? "waiting" : "updated", animal, after, now, ["status"]);
    const category = last?.word ?? this.categories.nameOf(animal.categoryId);
    const name = last?.name ?? animal.name;
    this.#say(animal, { entry, petId: null, presence: "there", name, category, status });
  }

  /**
   * Withdraws what a whole list lacks, but for animals that it left out before: people brought them
   * back. Returns how many animals of its source are here.
   */
  async leaveOut(
    matching: Matching,
    named: ReadonlySet<string | undefined>,
    rejections: readonly Rejection[],
    partial: string | undefined,
  ): Promise<number> {
    const { tx, list } = this;
    const { total, unlisted } = await matching.absent();
    const left = new Map<StoreAnimal, Entry>();
    for (const batch of batches(unlisted)) {
      const known = batch.map((animal) => ({ animal, entry: matching.entryOf(animal) }));
      await this.#learn(known);
      for (const { animal, entry } of known) {
        if (this.#decide(absent, animal).does !== "withdraws") continue;
        left.set(animal, this.#absentEntry(animal, entry, "left out"));
      }
    }
    const missing = [...left.keys()];
    const lacking = { tx, missing, sourceAnimals: total, rejections, partial };
    const going = (await this.options.withdraws?.(lacking)) ?? missing;
    this.counts.missing += going.length;
    for (const animal of going) {
      this.#withdraw(animal, absent);
      const entry = left.get(animal);
      if (entry !== undefined && !list.isDesk) this.entries.push(entry);
    }
    if (list.isDesk) return total;
    // A record in error may be that of anybody.
    const inError = new Set(rejections.map(({ externalId }) => externalId));
    if (partial !== undefined || inError.has(undefined)) return total;
    const removed = await entriesOfRemoved(tx, list.source);
    const gone = removed.filter(({ entry }) => !named.has(entry) && !inError.has(entry));
    for (const each of [...gone, ...matching.absentNameless()]) {
      this.entries.push({ ...each, presence: "left out", status: null });
    }
    return total;
  }
}

const isSame = (one: PetState, other: PetState) =>
  eventFields.every((field) => one[field] === other[field]);

/** What an animal without a name was called until its name was stored as it is: blank. */
const nameOf = (name: string): string => (name === "Unnamed" ? "" : name);
