/** What becomes of the animals of a list and of the store, in memory. */
import type { Tx } from "../../../storage/database.ts";
import { categoryKey } from "../../animals/categories.ts";
import { eventFields, type PetEvent, type PetState, stateOf } from "../../animals/changes.ts";
import type { Candidate, Rejection, SoundRecord } from "../understand/record.ts";
import type { AnimalReport } from "../report.ts";
import type { ImportCategories } from "./categories.ts";
import { animalsOf, type Matching, type PlannedList } from "./match.ts";
import {
  decide,
  type Decision,
  entriesOfRemoved,
  type Entry,
  entryOf,
  goneEntry,
  hereOf,
  isFurther,
  lastSaid,
  listFields,
  type Match,
  type Said,
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

interface PlannedEvent extends PetEvent {
  readonly after: PetState | null;
}

export const reportsMax = 200;

/** What becomes of an animal, and how reports call it. */
const reported = {
  added: "restored",
  updated: "updated",
  waiting: "updated",
  withdrawn: "withdrawn",
} as const;
type Did = keyof typeof reported;

/** What becomes of the animals of a list and of the store. */
export class Plan {
  readonly events: PlannedEvent[] = [];
  /**
   * Those that come back under their ids are added; those that a whole list lacks are missing;
   * `kept` are as people changed them; `waiting` lost their status until a word is explained.
   */
  readonly counts: Record<Did | "unchanged" | "missing" | "kept", number> = {
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

  constructor(
    private readonly tx: Tx,
    readonly list: PlannedList,
    private readonly categories: ImportCategories,
    private readonly options: ImportOptions,
  ) {}

  async take(matches: readonly Match[]): Promise<void> {
    const said = await lastSaid(this.tx, this.list, matches);
    for (const match of matches) {
      const last = said.get(match.animal.id);
      this.#compareNames(match, last);
      this.#take(match, last);
    }
  }

  /** Counts animals that the list calls otherwise than it did, and than they are called here. */
  #compareNames({ record, animal: { name } }: Match, last: Entry | undefined): void {
    const { name: listed = "", externalId } = record ?? {};
    if (externalId === undefined || listed === "" || name === "") return;
    this.identity.matched += 1;
    if ([name, last?.name ?? name].map(categoryKey).includes(categoryKey(listed))) return;
    this.identity.renamed += 1;
    this.identity.example ||= `${JSON.stringify(name)} for ${JSON.stringify(listed)}`;
  }

  #take({ record, animal, entry }: Match, last: Entry | undefined): void {
    const now = this.#saidBy(record);
    const { takes, kept } = this.#decide(now, animal, last);
    if (kept.length > 0) {
      this.counts.kept += 1;
      this.#report(this.kept, "kept", animal, now, kept);
    }
    const isTaken = takes.includes("presence");
    if (record?.kind !== "pet") {
      // A whole list left out before whom people brought back.
      const isSaid = record !== undefined || isTaken;
      if (entry !== undefined && isSaid) this.#say(goneEntry(animal, entry, now, last), last);
      if (isTaken) this.#change("withdrawn", animal, null, now, takes);
      return;
    }
    const petId = record.externalId === undefined ? animal.id : null;
    if (entry !== undefined) this.#say(entryOf(record, entry, petId), last);
    const after = this.#after(record, animal, takes);
    if (isTaken) this.#change("added", animal, after, now, takes);
    else if (animal.isRemoved || isSame(animal, after)) this.counts.unchanged += 1;
    else this.#change("updated", animal, after, now, takes);
  }

  #saidBy(record: SoundRecord | undefined): Said {
    const presence = record === undefined ? "left out" : "gone";
    if (record?.kind !== "pet") return { presence, name: null, category: null, status: null };
    const { name, status = null } = record;
    return { presence: "there", name, category: this.categories.idOf(record.category), status };
  }

  #decide(now: Said, animal: StoreAnimal, last: Entry | undefined): Decision {
    const word = last?.category ?? null;
    const category = word === null ? null : this.categories.meaningOf(word);
    const isRight = this.list.isDesk || this.options.listWins === true;
    return decide(last && { ...last, category }, now, hereOf(animal), isRight);
  }

  #after(record: Candidate, animal: StoreAnimal, takes: Decision["takes"]): PetState {
    const { name, category, status = null, externalId, source } = record;
    const named = name === "" ? hereOf(animal).name : animal.name;
    // A list that does not say whose it is leaves what is known. Names are those of a whole list.
    const isSourced = externalId !== undefined || this.list.isWhole;
    return {
      ...stateOf(animal),
      name: takes.includes("name") ? name : named,
      ...(takes.includes("category") && { categoryId: this.categories.idOf(category) }),
      ...(takes.includes("status") && { status }),
      externalId: externalId ?? animal.externalId,
      ...(isSourced && source !== "" && { source }),
    };
  }

  #say(said: Entry, last: Entry | undefined): void {
    const fields = ["entry", "presence", ...listFields] as const;
    const isAsBefore = last !== undefined && fields.every((field) => last[field] === said[field]);
    if (!this.list.isDesk && !isAsBefore) this.entries.push(said);
  }

  #change(
    did: Did,
    animal: StoreAnimal,
    after: PetState | null,
    now: Said,
    fields: Decision["takes"],
  ): void {
    const { id: petId, isRemoved } = animal;
    const was = stateOf(animal);
    const former = isRemoved && after !== null && !isSame(was, after) ? was : undefined;
    this.counts[did] += 1;
    this.events.push({ petId, before: isRemoved ? null : was, after, former });
    const told = did === "added" ? fields.filter((field) => field !== "presence") : fields;
    this.#report(this.changed, reported[did], animal, now, told);
  }

  #report(
    to: AnimalReport[],
    did: AnimalReport["did"],
    animal: StoreAnimal,
    now: Said,
    fields: Decision["kept"],
  ): void {
    if (to.length === reportsMax) return;
    const { id, name } = animal;
    const [before, after] = [hereOf(animal), now].map((said) => ({
      ...said,
      category: said.category === null ? null : this.categories.nameOf(said.category),
      presence: said.presence === "there" ? "there" : "gone",
    }));
    const told = fields.map((field) => {
      return { field, before: before?.[field] ?? null, after: after?.[field] ?? null };
    });
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
    const alike = Map.groupBy(open, ({ externalId }) => externalId).values();
    const agreed = [...alike].flatMap((all) =>
      all.every(({ status }) => status === all[0]?.status) ? all.slice(0, 1) : [],
    );
    const find = await animalsOf(this.tx, agreed, true);
    const found = agreed.flatMap((bad) => {
      const animal = find(bad);
      return animal === undefined ? [] : { bad, animal, entry: bad.externalId };
    });
    const last = await lastSaid(this.tx, this.list, found);
    for (const each of found) this.#hide(each.bad, each, last.get(each.animal.id));
  }

  #hide(
    { status: said, unknownStatus }: Rejection,
    { animal, entry = "" }: Match,
    last: Entry | undefined,
  ): void {
    const status = said ?? null;
    const isUnknown = unknownStatus !== undefined;
    // A word that nobody explained takes nothing of an animal that is reserved.
    const isTold =
      isFurther(status, animal.status) && (!isUnknown || animal.status === "available");
    // Somebody has decided otherwise since the list said so.
    const isSaid = last?.presence === "there" && last.status === status;
    if (animal.isRemoved || !isTold || isSaid) return;
    const now = { ...this.#saidBy(undefined), status };
    const did = isUnknown ? "waiting" : "updated";
    this.#change(did, animal, { ...stateOf(animal), status }, now, ["status"]);
    const category = last?.category ?? this.categories.nameOf(animal.categoryId);
    const name = last?.name ?? animal.name;
    this.#say({ entry, petId: null, presence: "there", name, category, status }, last);
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
    const last = await lastSaid(tx, list, unlisted);
    const leftOut = this.#saidBy(undefined);
    const missing = unlisted
      .map(({ animal }) => animal)
      .filter((animal) => this.#decide(leftOut, animal, last.get(animal.id)).takes.length > 0);
    const lacking = { tx, missing, sourceAnimals: total, rejections, partial };
    const going = (await this.options.withdraws?.(lacking)) ?? missing;
    this.counts.missing += going.length;
    const staying = new Set(missing).difference(new Set(going));
    for (const each of unlisted) {
      if (!staying.has(each.animal)) this.#take(each, last.get(each.animal.id));
    }
    // A record in error may be that of anybody.
    const inError = new Set(rejections.map(({ externalId }) => externalId));
    if (list.isDesk || partial !== undefined || inError.has(undefined)) return total;
    for (const each of await entriesOfRemoved(tx, list.source)) {
      const { entry, petId } = each;
      const isListed = petId === null ? named.has(entry) : matching.meant.has(petId);
      if (isListed || inError.has(entry)) continue;
      this.entries.push({ ...each, presence: "left out", status: null });
    }
    return total;
  }
}

const isSame = (one: PetState, other: PetState) =>
  eventFields.every((field) => one[field] === other[field]);
