/** What an import changes: the records of a list against the animals of the store, in memory. */
import type { AppError } from "../../../domain/errors.ts";
import type { Tx } from "../../../storage/database.ts";
import { categoriesInUse, categoryWords } from "../../animals/categories.ts";
import type { Prepared } from "../understand/propose.ts";
import type { Outcome, Rejection, SoundRecord } from "../understand/record.ts";
import { ImportCategories, type NewCategory } from "./categories.ts";
import { completeSource, refusalOf } from "./checks.ts";
import {
  entriesOf,
  entriesOfRemoved,
  isDesk,
  lastPeople,
  namelessEntries,
  saidBefore,
} from "./entries.ts";
import { ByOrigin, type Newest, newestOf } from "./newest.ts";
import type { ImportOptions } from "./options.ts";
import { Plan, rejectionOf } from "./plan.ts";
import { ListMemory } from "./memory.ts";
import {
  animalsById,
  animalsOf,
  batches,
  likeNew,
  namelessLike,
  type StoreAnimal,
  unlistedOf,
  withOtherIds,
} from "./store.ts";

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
  /** Who changed the animals that are kept, by the animal. */
  readonly people: ReadonlyMap<bigint, string>;
}

export async function planned(
  tx: Tx,
  prepared: Prepared,
  options: ImportOptions,
): Promise<Planned> {
  const { reading, understanding } = prepared;
  const { newIds = false } = options;
  const complete = completeSource(reading, options);
  const categories = new ImportCategories(await categoriesInUse(tx), await categoryWords(tx), {
    create: options.createCategories,
    newIds,
    anyNumber: reading.format !== "map",
  });
  const { records, rejections, skipped } = sorted(understanding.outcomes, categories);
  const newest = newestOf(newIds ? records : await withOtherIds(tx, records), newIds);
  const list = {
    source: reading.source,
    isDesk: isDesk(reading.format),
    isWhole: complete !== undefined,
    wins: options.listWins === true,
  };
  const plan = new Plan(options, categories, new ListMemory(list, categories));
  for (const batch of batches(newest.identified.values())) {
    await planBatch(tx, plan, batch, newIds);
  }
  await planAnonymous(tx, plan, newest, complete);
  if (options.isSame !== undefined) {
    plan.recognise(await likeNew(tx, plan.added, newest), options.isSame);
  }
  plan.added.sort((a, b) => a.line - b.line);
  const all = [...rejections, ...plan.rejections];
  const isSkipping = options.skipBad === true;
  const isSound = all.length === 0 || (isSkipping && all.length < understanding.outcomes.length);
  if (isSkipping) await planBad(tx, plan, isSound ? all : all.filter(isUnexplained), newest);
  const sourceAnimals = await planAbsent(tx, plan, { prepared, options, newest, complete, all });
  return {
    plan,
    newest,
    records,
    rejections: all,
    skipped,
    categories: categories.wanted(plan.usedCategories()),
    refusal: await refusalOf(tx, { plan, prepared, options, sourceAnimals, rejected: all.length }),
    isSound,
    people: await lastPeople(
      tx,
      plan.reports.kept.map(({ id }) => id),
    ),
  };
}

/** Of a list without a sound record nothing is done, but that its words are told of. */
const isUnexplained = ({ unknownStatus }: Rejection) => unknownStatus !== undefined;

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

/** Plans records that have ids, with what their list said before. */
async function planBatch(
  tx: Tx,
  plan: Plan,
  records: readonly SoundRecord[],
  newIds: boolean,
): Promise<void> {
  const store = await animalsOf(tx, records, newIds);
  const found = records.map((record) => ({ record, animal: plan.animalOf(record, store) }));
  const ids = found.flatMap(({ record: { externalId }, animal }) =>
    animal === undefined || externalId === undefined ? [] : externalId,
  );
  const isDesk = plan.memory.list.isDesk;
  const entries = isDesk ? new Map() : await entriesOf(tx, plan.memory.list.source, ids);
  const lacking = found.flatMap(({ record: { externalId }, animal }) =>
    animal === undefined || entries.has(externalId ?? "") ? [] : animal.id,
  );
  plan.memory.learn(entries.values(), isDesk ? new Map() : await saidBefore(tx, lacking));
  for (const { record, animal } of found) plan.identified(record, animal);
  plan.memory.unlearn();
}

/** Plans records without ids. */
async function planAnonymous(
  tx: Tx,
  plan: Plan,
  newest: Newest,
  complete: string | undefined,
): Promise<void> {
  const { anonymous } = newest;
  const nameless = await namelessLike(tx, anonymous, complete);
  if (complete !== undefined && !plan.memory.list.isDesk) {
    const entries = await namelessEntries(tx, complete);
    const ids = [...entries.values()].flatMap(({ petId }) => petId ?? []);
    const known = await animalsById(tx, ids);
    const isOpen = ({ externalId, source }: StoreAnimal) =>
      externalId === null || newest.identified.get(source, externalId) === undefined;
    plan.memory.learnNameless(
      [...entries.values()].flatMap((entry) => {
        const animal = known.get(entry.petId ?? 0n);
        return animal !== undefined && isOpen(animal) ? [{ entry, animal }] : [];
      }),
    );
    const others = nameless.filter(({ id }) => !known.has(id)).map(({ id }) => id);
    for (const ids of batches(others)) plan.memory.learn([], await saidBefore(tx, ids));
  }
  plan.anonymous(anonymous, nameless);
}

/** Takes of bad records what hides their animals. */
async function planBad(
  tx: Tx,
  plan: Plan,
  rejections: readonly Rejection[],
  { identified }: Newest,
): Promise<void> {
  if (plan.memory.list.isDesk) return;
  const open = new ByOrigin<Rejection[]>();
  for (const each of rejections) {
    const { externalId, source, unknownStatus, status } = each;
    if (externalId === undefined || (unknownStatus ?? status) === undefined) continue;
    if (identified.get(source, externalId) !== undefined) continue;
    const all = open.get(source, externalId) ?? [];
    if (all.push(each) === 1) open.set(source, externalId, all);
  }
  // Where bad records of one animal disagree, nothing tells which of them holds.
  const agreed = open.values().flatMap((all) => {
    const [first] = all;
    return first && all.every(({ status }) => status === first.status) ? [first] : [];
  });
  for (const batch of batches(agreed)) {
    const { byOrigin } = await animalsOf(tx, batch, true);
    const ids = batch.flatMap(({ externalId }) => externalId ?? []);
    plan.memory.learn((await entriesOf(tx, plan.memory.list.source, ids)).values());
    for (const each of batch) {
      const animal = byOrigin.get(each.source, each.externalId ?? "");
      if (animal !== undefined) plan.bad(animal, each);
    }
  }
}

interface Absence {
  readonly prepared: Prepared;
  readonly options: ImportOptions;
  readonly newest: Newest;
  readonly complete: string | undefined;
  readonly all: readonly Rejection[];
}

/** Plans what a whole list lacks. Returns how many animals of its source are here. */
async function planAbsent(
  tx: Tx,
  plan: Plan,
  { prepared, options: { withdraws }, newest, complete, all }: Absence,
): Promise<number> {
  if (complete === undefined) return 0;
  const { total, unlisted } = await unlistedOf(tx, complete, newest);
  for (const batch of batches(plan.unnamed(unlisted))) {
    const ids = batch.flatMap(({ externalId }) => externalId ?? []);
    const entries = await entriesOf(tx, complete, ids);
    const lacking = batch.filter(({ externalId }) => !entries.has(externalId ?? ""));
    plan.memory.learn(
      entries.values(),
      await saidBefore(
        tx,
        lacking.map(({ id }) => id),
      ),
    );
  }
  const { partial } = prepared.input;
  const missing = plan.missingOf(unlisted);
  const lacking = { tx, missing, sourceAnimals: total, rejections: all, partial };
  plan.absent((await withdraws?.(lacking)) ?? missing);
  // A record in error may be that of anybody.
  if (partial === undefined && all.every(({ externalId }) => externalId !== undefined)) {
    const inError = new Set(all.map(({ externalId }) => externalId));
    const removed = await entriesOfRemoved(tx, complete);
    plan.removedAbsent(
      removed.filter(
        ({ entry }) => newest.identified.get(complete, entry) === undefined && !inError.has(entry),
      ),
    );
  }
  return total;
}
