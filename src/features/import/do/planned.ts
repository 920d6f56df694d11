/** What a list comes to beside the animals of the store. */
import { AppError } from "../../../domain/errors.ts";
import type { Tx } from "../../../storage/database.ts";
import { categoriesInUse, type Category } from "../../animals/categories.ts";
import { collectBehind } from "../read/input.ts";
import { ImportCategories, type NewCategory, type UnresolvedCategory } from "../plan/categories.ts";
import {
  type Newest,
  newestOf,
  type Plan,
  type PlannedRecord,
  Planner,
  type StoreAnimal,
} from "../plan/plan.ts";
import type { Reading } from "../understand/reading.ts";
import type { Candidate, Outcome, Rejection } from "../understand/record.ts";
import { animalsOf, batches, namelessLike, unlistedOf, withOtherIds } from "./catalogue.ts";
import type { Prepared } from "./prepare.ts";

export interface ImportOptions {
  /** Names with ids that the catalogue may not know yet. */
  readonly categories?: readonly Category[] | undefined;
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
}

/** What a whole list lacks of the animals of its source. */
export interface Lacking {
  readonly tx: Tx;
  readonly missing: readonly StoreAnimal[];
  /** How many animals of the source are here. */
  readonly sourceAnimals: number;
  readonly rejections: readonly Rejection[];
}

/** What the records come to beside the animals of the store. */
export interface Planned {
  readonly plan: Plan;
  readonly newest: Newest;
  readonly read: number;
  readonly rejections: readonly Rejection[];
  readonly skipped: ReadonlyMap<string, number>;
  readonly records: readonly PlannedRecord[];
  /** The source of which this is the whole list: names replace ids in it. */
  readonly complete: string | undefined;
  /** True where the ids of the records say nothing. */
  readonly newIds: boolean;
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
  const { categories: fromFile = [], newIds = false, keepGone = false } = options;
  const complete = completeSource(reading, options);
  const categories = new ImportCategories(await categoriesInUse(tx), fromFile, {
    create: options.createCategories,
    newIds,
    anyNumber: reading.format !== "map",
  });
  const { records, rejections, skipped } = sorted(understanding.outcomes, reading, categories);
  const newest = newestOf(newIds ? records : await withOtherIds(tx, records), newIds);
  const planner = new Planner({ newIds, keepGone, complete });
  let done = 0;
  for (const batch of batches(newest.identified.values())) {
    planner.identified(batch, await animalsOf(tx, batch, newIds));
    collectBehind((done += batch.length) - 1);
  }
  planner.anonymous(newest.anonymous, await namelessLike(tx, newest.anonymous, complete));
  const of = complete === undefined ? undefined : await unlistedOf(tx, complete, newest);
  const missing = planner.missingOf(of?.unlisted ?? []);
  const { withdraws } = options;
  const sourceAnimals = of?.total ?? 0;
  // Names that are not clear may be those of missing animals.
  const unclear = [...rejections, ...planner.end().rejections];
  const chosen = await withdraws?.({ tx, missing, sourceAnimals, rejections: unclear });
  planner.absent(chosen ?? missing);
  const plan = planner.end();
  const all = [...rejections, ...plan.rejections];
  const used = [...plan.added, ...plan.events].flatMap((each) => each.category ?? []);
  const read = understanding.outcomes.length;
  return {
    plan,
    newest,
    read,
    rejections: all,
    skipped,
    records,
    complete,
    newIds,
    categories: categories.wanted(used, fromFile),
    refusal: of && notWhole(of.total, plan, all.length, prepared, options),
    isSound: all.length === 0 || (options.skipBad === true && all.length < read),
  };
}

/** Reasons that are counted one by one; they hold values of the input. */
const reasonsMax = 100;
const otherReasons = "other reasons";

/** The records with their categories, those that are bad, and those that are not for adoption. */
function sorted(
  outcomes: readonly Outcome[],
  reading: Reading,
  categories: ImportCategories,
): Pick<Planned, "records" | "skipped"> & { readonly rejections: Rejection[] } {
  const records: PlannedRecord[] = [];
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
      rejections.push(categoryRejection(outcome, category));
      continue;
    }
    if (outcome.kind === "gone") {
      const isCounted = skipped.has(outcome.reason) || skipped.size < reasonsMax;
      const reason = isCounted ? outcome.reason : otherReasons;
      skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
    }
    const source = outcome.source ?? reading.source;
    records.push({ outcome, category: isUnknown ? undefined : category, source });
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
  { missing }: Plan,
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

function categoryRejection(
  { line, id, name, category, status, externalId }: Candidate,
  { problem, isUnknown }: UnresolvedCategory,
): Rejection {
  return {
    kind: "reject",
    line,
    externalId,
    field: "category",
    problem,
    // With all that an import would store, by the names of rehome's own format.
    record: {
      id,
      name,
      category: category.name ?? category.id,
      status: status ?? null,
      externalId,
    },
    ...(isUnknown ? { unknownCategory: true } : {}),
  };
}
