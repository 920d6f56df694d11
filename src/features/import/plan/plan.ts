/** What an import changes: the records of a list against the animals of the store, in memory. */
import { AppError } from "../../../domain/errors.ts";
import { petFieldNames } from "../../../domain/pet.ts";
import type { Tx } from "../../../storage/database.ts";
import { categoriesInUse, categoryKey } from "../../animals/categories.ts";
import { type AddedPet, type PetState, stateOf } from "../../animals/changes.ts";
import { textsOf } from "../../optional-texts.ts";
import { type Message, message } from "../messages.ts";
import { collectInput } from "../read/input.ts";
import type { Prepared, Reading } from "../understand/reading.ts";
import type { Candidate, Outcome, Rejection, SoundRecord } from "../understand/record.ts";
import { idPrefix } from "../understand/values.ts";
import { ImportCategories, type NewCategory, type ResolvedCategory } from "./categories.ts";
import { type Newest, newestOf } from "./newest.ts";
import {
  animalsOf,
  batches,
  likeNew,
  namelessLike,
  type StoreAnimal,
  type StoreAnimals,
  unlistedOf,
  withOtherIds,
} from "./store.ts";

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

/** What the records come to beside the animals of the store. */
export interface Planned {
  readonly plan: Plan;
  readonly newest: Newest;
  readonly records: readonly SoundRecord[];
  readonly rejections: readonly Rejection[];
  /** Records of animals that are not for adoption, by what they say. */
  readonly skipped: ReadonlyMap<string, number>;
  /** Those to be made. */
  readonly categories: readonly NewCategory[];
  /** Why the whole of it is refused. */
  readonly refusal: AppError | undefined;
  /** False if bad records leave the catalogue as it is. */
  readonly isSound: boolean;
}

export async function planned(
  tx: Tx,
  prepared: Prepared,
  options: ImportOptions,
): Promise<Planned> {
  const { reading, understanding } = prepared;
  const { newIds = false, withdraws } = options;
  collectInput(understanding.outcomes.length);
  const complete = completeSource(reading, options);
  const categories = new ImportCategories(await categoriesInUse(tx), {
    create: options.createCategories,
    newIds,
    anyNumber: reading.format !== "map",
  });
  const { records, rejections, skipped } = sorted(understanding.outcomes, categories);
  const newest = newestOf(newIds ? records : await withOtherIds(tx, records), newIds);
  const plan = new Plan(options, categories);
  for (const batch of batches(newest.identified.values())) {
    plan.identified(batch, await animalsOf(tx, batch, newIds));
  }
  plan.anonymous(newest.anonymous, await namelessLike(tx, newest.anonymous, complete));
  if (options.isSame !== undefined) {
    plan.recognise(await likeNew(tx, plan.added, newest), options.isSame);
  }
  plan.added.sort((a, b) => a.line - b.line);
  const all = [...rejections, ...plan.rejections];
  const { total = 0, unlisted = [] } = complete ? await unlistedOf(tx, complete, newest) : {};
  // Names that are not clear may be those of missing animals.
  const missing = plan.missingOf(unlisted);
  const lacking = { tx, missing, sourceAnimals: total, rejections: all };
  plan.absent((await withdraws?.(lacking)) ?? missing);
  const used = plan.usedCategories();
  return {
    plan,
    newest,
    records,
    rejections: all,
    skipped,
    categories: categories.wanted(used),
    refusal: notWhole(total, plan.counts.missing, all.length, prepared, options),
    isSound:
      all.length === 0 || (options.skipBad === true && all.length < understanding.outcomes.length),
  };
}

/** Reasons that are counted one by one; they hold values of the input. */
const reasonsMax = 100;
const otherReasons = "other reasons";

/** The records with their categories, those that are bad, and those that are not for adoption. */
function sorted(
  outcomes: readonly Outcome[],
  categories: ImportCategories,
): Pick<Planned, "records" | "skipped" | "rejections"> {
  const records: SoundRecord[] = [];
  const rejections: Rejection[] = [];
  const skipped = new Map<string, number>();
  for (const outcome of outcomes) {
    if (outcome.kind === "reject") {
      rejections.push(outcome);
      continue;
    }
    const category = outcome.category && categories.resolve(outcome.category);
    const isUnknown = category !== undefined && "problem" in category;
    if (outcome.kind === "pet" && isUnknown) {
      const rejection = rejectionOf(outcome, "category", category.problem);
      rejections.push(category.isUnknown ? { ...rejection, unknownCategory: true } : rejection);
      continue;
    }
    if (outcome.kind === "gone") {
      const isCounted = skipped.has(outcome.reason) || skipped.size < reasonsMax;
      const reason = isCounted ? outcome.reason : otherReasons;
      skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
    }
    records.push(outcome);
  }
  return { records, rejections, skipped };
}

/** The source of which the input is the whole list. Throws AppError if it is not known. */
function completeSource({ source }: Reading, { complete }: ImportOptions): string | undefined {
  if (complete !== true) return undefined;
  if (source !== "") return source;
  throw new AppError("invalid_request", "--complete needs the source of this list.", {
    hint: "Name the source with --source.",
  });
}

/**
 * Why the animals that a whole list lacks are not withdrawn: the list says itself that it is not
 * whole, records of them may only be bad, or have lost their ids, or they are more than half of
 * all and the options do not allow that.
 */
function notWhole(
  sourceAnimals: number,
  missing: number,
  rejected: number,
  { input, reading: { source }, understanding }: Prepared,
  { confirmed, withdraws }: ImportOptions,
): AppError | undefined {
  if (missing === 0) return undefined;
  const refused = (text: string, hint: string) => new AppError("invalid_request", text, { hint });
  if (input.partial !== undefined) {
    return refused(
      `This list says that it is not whole (${input.partial}), and ${missing} of the ${sourceAnimals} animals of ${source} are not in it. Nothing was changed.`,
      "Import all of its pages in one list, or leave out --complete.",
    );
  }
  if (rejected > 0 && withdraws === undefined) {
    return refused(
      `A whole list must not have bad records, and this one has ${rejected}: their animals would be withdrawn. Nothing was changed.`,
      "See them with --dry-run and fix them, or import without --complete.",
    );
  }
  const damaged = understanding.notes.find(({ said }) => said.code === "idsDamaged");
  if (damaged !== undefined) {
    return refused(
      `A whole list must not have damaged ids, and this one has ${damaged.records}: their animals would be withdrawn. Nothing was changed.`,
      "Export the list again without a spreadsheet, or import without --complete.",
    );
  }
  if (2 * missing <= sourceAnimals || confirmed === true || withdraws) return undefined;
  return refused(
    `${missing} of the ${sourceAnimals} animals of ${source} are not in this list. Nothing was changed.`,
    "See whether the list is whole, and add --yes to withdraw them.",
  );
}

/** A sound record that the store does not take, with all that an import would store of it. */
function rejectionOf(sound: SoundRecord, field: string, problem: Message): Rejection {
  const { line, id, name, category, externalId, source } = sound;
  const status = sound.kind === "pet" ? (sound.status ?? null) : "gone";
  const record = { id, name, category: category?.name ?? category?.id, status, externalId };
  return { kind: "reject", line, source, externalId, field, problem, record };
}

/** What becomes of the animals of a list and of the store. */
export class Plan {
  added: Candidate[] = [];
  readonly events: PlannedEvent[] = [];
  /** Those that come back under their ids are added; those that a whole list lacks are missing. */
  readonly counts = { added: 0, updated: 0, unchanged: 0, withdrawn: 0, missing: 0 };
  /** Records that nothing tells the animal of. */
  readonly rejections: Rejection[] = [];
  /** New animals whose name and category an animal here has, that no id identifies. */
  alike: SoundRecord[] = [];
  /** Records that may be the one animal here of their name and category. */
  readonly lookalikes: { readonly record: SoundRecord; readonly animal: StoreAnimal }[] = [];
  readonly #options: ImportOptions;
  readonly #categories: ImportCategories;
  /** Animals that a name in a whole list means, or may mean. */
  readonly #named = new Set<bigint>();

  constructor(options: ImportOptions, categories: ImportCategories) {
    this.#options = options;
    this.#categories = categories;
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

  /** Plans records that have ids, each of another animal. */
  identified(records: readonly SoundRecord[], store: StoreAnimals): void {
    for (const record of records) {
      const animal = this.#animal(record, store);
      if (animal !== undefined) this.#change(record, animal);
      else if (record.id === undefined || this.#options.newIds === true) this.#add(record);
      // What is gone, and not here under this id, leaves nothing to withdraw. It is no fault.
      else if (record.kind === "pet") {
        const problem = message("idUnknown", String(record.id));
        this.rejections.push(rejectionOf(record, "id", problem));
      }
    }
  }

  /**
   * Plans records without any id. In a whole list a name and category identify an animal where both
   * occur once, in the list and among `nameless`; what occurs more than once is not matched.
   */
  anonymous(records: readonly SoundRecord[], nameless: readonly StoreAnimal[]): void {
    const here = Map.groupBy(nameless, animalKey);
    const isWhole = this.#options.complete === true;
    for (const [key, all] of Map.groupBy(records, this.#keyOf)) {
      const animals = here.get(key) ?? [];
      const [animal] = animals;
      if (!isWhole || animal === undefined) {
        for (const each of all) this.#add(each);
        if (animal !== undefined) this.alike.push(...all);
        continue;
      }
      for (const each of animals) this.#named.add(each.id);
      const [record] = all;
      if (all.length === 1 && animals.length === 1 && record !== undefined) {
        this.#change(record, animal);
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
      this.#change(record, animal);
    }
    this.added = this.added.filter((each) => !same.has(each));
    this.counts.added -= same.size;
  }

  #refuseAlike(record: SoundRecord, records: number, animals: number): void {
    const name = JSON.stringify(record.name ?? "Unnamed");
    const problem = message("sameName", name, String(records), String(animals));
    this.rejections.push(rejectionOf(record, "name", problem));
  }

  /** The animals among those that no id in a whole list names that no name in it names either. */
  missingOf(animals: readonly StoreAnimal[]): StoreAnimal[] {
    return animals.filter(({ id }) => !this.#named.has(id));
  }

  /** Withdraws animals of a source that its whole list does not have. */
  absent(missing: readonly StoreAnimal[]): void {
    this.counts.missing += missing.length;
    for (const animal of missing) this.#withdraw(animal);
  }

  #animal(
    { id, externalId, source }: SoundRecord,
    { byId, byOrigin }: StoreAnimals,
  ): StoreAnimal | undefined {
    const named = id === undefined || this.#options.newIds === true ? undefined : byId.get(id);
    const isSame = externalId === undefined || (named?.externalId ?? externalId) === externalId;
    if (named !== undefined && isSame) return named;
    if (externalId === undefined) return undefined;
    const found = byOrigin.get(source, externalId);
    if (found?.isRemoved === false || source === "") return found;
    // Version 1.0.0 kept the source in the id alone.
    const unowned = byOrigin.get("", externalId);
    return found === undefined || unowned?.isRemoved === false ? (unowned ?? found) : found;
  }

  #change(record: SoundRecord, animal: StoreAnimal): void {
    if (record.kind === "gone") {
      if (!animal.isRemoved && this.#options.keepGone !== true) this.#withdraw(animal);
      return;
    }
    const category = this.categoryOf(record);
    if (category === undefined) return;
    const { id: petId, isRemoved, ...before } = animal;
    // A list that does not say whose it is leaves what is known. Names are those of a whole list.
    const { source } = record;
    const isSourced = record.externalId !== undefined || this.#options.complete === true;
    const after: PetState = {
      ...before,
      ...textsOf((name) => record[name] ?? null),
      name: record.name,
      status: record.status ?? null,
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
    } else this.counts.unchanged += 1;
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
  }

  #add(record: SoundRecord): void {
    if (record.kind !== "pet") return;
    this.added.push(record);
    this.counts.added += 1;
  }
}

/** The animal of a record, with a category that has an id by now. */
export function addedPet(record: Candidate, categoryId: bigint, isWhole: boolean): AddedPet {
  const { name, status, externalId } = record;
  const source = externalId !== undefined || isWhole ? record.source : "";
  const texts = textsOf((each) => record[each] ?? null);
  return { ...texts, name, status, externalId, source, categoryId };
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
