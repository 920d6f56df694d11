/**
 * An import: plan what the records of a list change, and do it in one transaction. How it was read
 * is remembered, so that the next list is read the same way, without any guess.
 */
import { and, count, eq, gt, isNull, like, max } from "drizzle-orm";
import { AppError } from "../../domain/errors.ts";
import { int64Min } from "../../domain/int64.ts";
import type { Database, Tx } from "../../storage/database.ts";
import { categoriesInUse, categoryWords, nameCategories } from "../animals/categories.ts";
import { type Change, type Editing, makeChange, partSize } from "../animals/changes.ts";
import { longWork } from "../long-work.ts";
import { deleteMeta, readingMeta, setMeta } from "../meta.ts";
import { ImportCategories } from "./plan/categories.ts";
import {
  batches,
  Matching,
  namelessEntryOf,
  newestIn,
  type PlannedList,
  rejectionOf,
} from "./plan/match.ts";
import { type ImportOptions, Plan } from "./plan/plan.ts";
import { type Entry, entryOf, isDesk, lastPeople, storeEntries } from "./plan/said.ts";
import { type ImportSummary, summary } from "./report.ts";
import { fits, type Prepared, type Reading } from "./understand/propose.ts";
import type { Candidate, Outcome, Rejection, SoundRecord } from "./understand/record.ts";

/** Says what an import would change, and changes nothing. */
export function previewImport(
  db: Database,
  prepared: Prepared,
  options: ImportOptions = {},
): Promise<ImportSummary> {
  return db.read(async (tx) => {
    const found = await planned(tx, prepared, options);
    const { newCategories: categoriesAdded } = found;
    return summary(prepared, found, options, { applied: false, categoriesAdded });
  }, longWork);
}

/** A list that is refused as a whole, with what there was to say of it. */
export class ImportRefused extends AppError {
  readonly summary: ImportSummary;

  constructor({ kind, message, hint = "", code }: AppError, found: ImportSummary) {
    super(kind, message, { hint, ...(code !== undefined && { code }) });
    this.summary = found;
  }
}

interface ImportEditing extends Editing {
  /** Reads the next list like this one. */
  readonly remembers?: boolean;
  /** Stores more in the transaction, at its end. What it throws undoes all of it. */
  readonly ends?: (tx: Tx, done: ImportSummary) => Promise<void>;
}

/**
 * Imports all animals of a list or none, in one transaction. Throws AppError when a whole list
 * cannot be one, or the store fails.
 */
export async function runImport(
  { ends, remembers = false, ...editing }: ImportEditing,
  prepared: Prepared,
  options: ImportOptions = {},
): Promise<ImportSummary> {
  let change: bigint | undefined;
  const onChange = (id: bigint) => {
    change = id;
    editing.onChange?.(id);
  };
  const work = async (made: Change) => {
    const found = await planned(made.tx, prepared, options);
    if (found.refusal !== undefined) {
      const nothing = { applied: false, categoriesAdded: [] };
      throw new ImportRefused(found.refusal, summary(prepared, found, options, nothing));
    }
    const { isSound: applied, newCategories } = found;
    const categoriesAdded = applied ? newCategories : [];
    if (categoriesAdded.length > 0) await nameCategories(made, categoriesAdded);
    if (applied) await carryOut(made, found);
    const done = summary(prepared, found, options, { applied, categoriesAdded });
    const { format, source, kept, reading } = done;
    const keptAnimals = done.keptAnimals.slice(0, keptMax).map(({ name, by }) => ({ name, by }));
    made.summary = { format, source, ...(kept > 0 && { kept, keptAnimals }) };
    if (remembers && applied && format !== "rehome") {
      const isWhole = options.complete === true;
      await remember(made.tx, { reading, columns: prepared.columns, isWhole, at: made.atMs });
    }
    await ends?.(made.tx, done);
    return done;
  };
  const done = await makeChange({ ...editing, onChange }, "import", work, longWork);
  return { ...done, dryRun: false, change };
}

/** Animals that a history names as kept. */
const keptMax = 20;

/** Adds and changes the animals of a plan, whose new categories have their ids now. */
async function carryOut(change: Change, { plan, added, categories }: Planned): Promise<void> {
  for (const part of batches(plan.events, partSize)) {
    await change.plan(
      part.map(({ after, ...event }) => {
        const categoryId = categories.madeOf(after?.categoryId ?? 0n);
        return { ...event, after: after && { ...after, categoryId } };
      }),
    );
  }
  // What is gone or renamed makes room for what is new.
  await change.carryOut();
  const { tx } = change;
  const { pets } = tx.t;
  const { source, isWhole } = plan.list;
  const [before] = await tx.select({ id: max(pets.id) }).from(pets);
  for (const part of batches(added, partSize)) {
    await change.add(
      part.map(({ name, status, externalId, source: own, category }) => ({
        name,
        status,
        externalId,
        source: externalId !== undefined || isWhole ? own : "",
        categoryId: categories.madeOf(categories.idOf(category)),
      })),
    );
  }
  const isNew = and(gt(pets.id, before?.id ?? int64Min), eq(pets.createdIn, change.id));
  const ids = await tx
    .select({ id: pets.id })
    .from(pets)
    .where(and(isNew, isNull(pets.externalId)))
    .orderBy(pets.id);
  const said = plan.list.isDesk
    ? []
    : saidOfNew(
        added,
        ids.map(({ id }) => id),
        isWhole,
      );
  await storeEntries(tx, source, change.id, [...plan.entries, ...said]);
  change.isStored ||= plan.isSaidAnew;
}

/** What a list says of the animals that it adds: those without ids have `ids` here. */
function saidOfNew(added: readonly Candidate[], ids: readonly bigint[], isWhole: boolean): Entry[] {
  const nameless = added.filter(({ externalId }) => externalId === undefined);
  const alike = Map.groupBy(isWhole ? nameless : [], namelessEntryOf);
  const byName = nameless.flatMap((record, at) => {
    const entry = namelessEntryOf(record);
    // Nothing tells those apart that are called alike.
    return alike.get(entry)?.length === 1 ? entryOf(record, entry, ids[at] ?? null) : [];
  });
  const byId = added.flatMap((record) =>
    record.externalId === undefined ? [] : entryOf(record, record.externalId, null),
  );
  return [...byId, ...byName];
}

/** What the records come to beside the animals of the store. */
export type Planned = Awaited<ReturnType<typeof planned>>;

async function planned(tx: Tx, prepared: Prepared, options: ImportOptions) {
  const { understanding, input } = prepared;
  const { newIds = false, skipBad = false, isSame } = options;
  const list = listOf(prepared, options);
  const categories = new ImportCategories(await categoriesInUse(tx), await categoryWords(tx), {
    create: options.createCategories,
    newIds,
    anyNumber: prepared.reading.format !== "map",
  });
  const { records, rejections: bad, skipped } = sorted(understanding.outcomes, categories);
  const newest = await newestIn(tx, records, newIds);
  const matching = new Matching(tx, list, categories, newIds);
  const plan = new Plan(tx, list, categories, options);
  for (const batch of batches(newest.identified)) await plan.take(await matching.byIds(batch));
  for (const batch of batches(await matching.byNames(newest.anonymous))) await plan.take(batch);
  if (isSame !== undefined) await plan.take(await matching.recognise(isSame));
  const added = matching.added.toSorted((a, b) => a.line - b.line);
  plan.counts.added += added.length;
  plan.counts.unchanged += matching.unchanged;
  const rejections = [...bad, ...matching.rejections];
  const isSome = skipBad && rejections.length < understanding.outcomes.length;
  /** False if bad records leave the catalogue as it is. */
  const isSound = rejections.length === 0 || isSome;
  // Of a list without a sound record nothing is done, but that its words are told of.
  const told = rejections.filter(({ unknownStatus }) => isSound || unknownStatus !== undefined);
  const named = new Set(newest.identified.map(({ externalId }) => externalId));
  if (skipBad) await plan.hide(told, named);
  const sourceAnimals = list.isWhole
    ? await plan.leaveOut(matching, named, rejections, input.partial)
    : 0;
  const refusal = await refusalOf(tx, { plan, prepared, options, sourceAnimals, rejections });
  const people = await lastPeople(tx, plan.kept);
  const used = new Set([
    ...added.map(({ category }) => categories.idOf(category)),
    ...plan.events.map(({ after }) => after?.categoryId),
  ]);
  const newCategories = await categories.make(tx, used);
  const all = { records, newest, skipped, rejections, isSound, refusal, people };
  return { ...all, plan, matching, added, categories, newCategories };
}

/** Whose list it is. Throws AppError for a whole one of nobody. */
function listOf({ reading }: Prepared, { complete = false }: ImportOptions): PlannedList {
  const { format, source } = reading;
  if (!complete || source !== "") return { source, isDesk: isDesk(format), isWhole: complete };
  throw new AppError("invalid_request", "--complete needs the source of this list.", {
    hint: "Name the source with --source.",
  });
}

/** Reasons that are counted one by one; they hold values of the input. */
const reasonsMax = 100;

/** The records with their categories, those that are bad, and those that are not for adoption. */
function sorted(outcomes: readonly Outcome[], categories: ImportCategories) {
  const records: SoundRecord[] = [];
  const rejections: Rejection[] = [];
  const skipped = new Map<string, number>();
  for (const outcome of outcomes) {
    if (outcome.kind === "reject") {
      rejections.push(outcome);
      continue;
    }
    const found = outcome.category && categories.resolve(outcome.category);
    if (outcome.kind === "pet" && typeof found === "object") {
      const rejection = rejectionOf(outcome, "category", found);
      const isUnknown = found.code === "categoryUnknown";
      rejections.push(isUnknown ? { ...rejection, unknownCategory: true } : rejection);
    } else records.push(outcome);
    if (outcome.kind !== "gone") continue;
    const isCounted = skipped.has(outcome.reason) || skipped.size < reasonsMax;
    const reason = isCounted ? outcome.reason : "other reasons";
    skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
  }
  return { records, rejections, skipped };
}

interface Checked {
  readonly plan: Plan;
  readonly prepared: Prepared;
  readonly options: ImportOptions;
  readonly sourceAnimals: number;
  readonly rejections: readonly Rejection[];
}

const refused = (text: string, hint: string, code?: string) =>
  new AppError("invalid_request", `${text} Nothing was changed.`, {
    hint,
    ...(code !== undefined && { code }),
  });

export async function refusalOf(tx: Tx, checked: Checked): Promise<AppError | undefined> {
  return otherList(checked) ?? notWhole(checked) ?? (await unexplained(tx, checked));
}

/** The same ids with other names are those of another list, where nobody said whose they are. */
function otherList({ plan }: Checked): AppError | undefined {
  const { matched, renamed, example } = plan.identity;
  if (plan.list.source !== "" || plan.list.isDesk || 2 * renamed <= matched) return undefined;
  return refused(
    `This seems to be another list: ${renamed} of the ${matched} animals with the same ids have other names here, such as ${example}.`,
    "Name the source of this list with --source, such as --source cats.",
    "otherList",
  );
}

/**
 * Why the animals that a whole list lacks are not withdrawn: the list says itself that it is not
 * whole, records of them may only be bad, or have lost their ids, or they are more than half of
 * all and the options do not allow that.
 */
function notWhole({ plan, prepared, options, sourceAnimals, rejections }: Checked) {
  const { missing } = plan.counts;
  const { input, reading, understanding } = prepared;
  if (missing === 0) return undefined;
  const which = `${missing} of the ${sourceAnimals} animals of ${reading.source} are not in it`;
  if (input.partial !== undefined) {
    return refused(
      `This list says that it is not whole (${input.partial}), and ${which}.`,
      "Import all of its pages in one list, or leave out --complete.",
    );
  }
  if (rejections.length > 0 && options.withdraws === undefined) {
    return refused(
      `A whole list must not have bad records, and this one has ${rejections.length}: their animals would be withdrawn.`,
      "See them with --dry-run and fix them, or import without --complete.",
    );
  }
  const damaged = understanding.notes.find(({ said }) => said.code === "idsDamaged");
  if (damaged !== undefined) {
    return refused(
      `A whole list must not have damaged ids, and this one has ${damaged.records}: their animals would be withdrawn.`,
      "Export the list again without a spreadsheet, or import without --complete.",
    );
  }
  if (2 * missing <= sourceAnimals || options.confirmed === true || options.withdraws) {
    return undefined;
  }
  return refused(
    `${missing} of the ${sourceAnimals} animals of ${reading.source} are not in this list.`,
    "See whether the list is whole, and add --yes to withdraw them.",
    "mostMissing",
  );
}

const wordsShown = 5;

/** A list whose new words would hide more than half of the available is the source's mistake. */
async function unexplained(tx: Tx, { plan, prepared }: Checked): Promise<AppError | undefined> {
  const { waiting } = plan.counts;
  if (waiting === 0) return undefined;
  const { pets } = tx.t;
  const own = and(eq(pets.source, plan.list.source), eq(pets.status, "available"));
  const [row] = await tx.select({ animals: count() }).from(pets).where(own);
  const available = row?.animals ?? 0;
  if (2 * waiting <= available) return undefined;
  const words = prepared.understanding.outcomes.flatMap((each) =>
    each.kind === "reject" ? (each.unknownStatus ?? []) : [],
  );
  const named = [...new Set(words)].slice(0, wordsShown).map((word) => JSON.stringify(word));
  return refused(
    `${waiting} of the ${available} available animals have words for their status that are not known: ${named.join(", ")}.`,
    "Say what the words mean with --status.",
    "mostUnexplained",
  );
}

/** How a list was read that a person confirmed. */
export interface Remembered {
  readonly reading: Reading;
  /** The header, to find the reading of a list that names no source. */
  readonly columns: readonly string[];
  /** True where the list is the whole one of its source. */
  readonly isWhole: boolean;
  readonly at: number;
}

/** More than anybody has: the oldest goes. */
const rememberedMax = 200;

/** All that is remembered, the last one first. */
export async function rememberedReadings(tx: Tx): Promise<readonly Remembered[]> {
  const { storeState } = tx.t;
  const rows = await tx
    .select()
    .from(storeState)
    .where(like(storeState.name, `${readingMeta}%`));
  return rows.map(({ value }) => JSON.parse(value) as Remembered).toSorted((a, b) => b.at - a.at);
}

/** How a list with these columns was read; of no named source, the last list with this header. */
export async function recallReading(
  tx: Tx,
  columns: readonly string[],
  source: string | undefined,
): Promise<Remembered | undefined> {
  const all = await rememberedReadings(tx);
  const isSame = (each: Remembered) => Bun.deepEquals(each.columns, columns);
  if (source === undefined) return all.find(isSame);
  const own = all.filter(({ reading }) => reading.source === source);
  return own.find(isSame) ?? own.find(({ reading }) => fits(reading, columns));
}

async function remember(tx: Tx, remembered: Remembered): Promise<void> {
  const all = await rememberedReadings(tx);
  for (const each of all.slice(rememberedMax - 1)) await forgetReading(tx, each);
  await setMeta(tx, metaOf(remembered), JSON.stringify(remembered));
}

export const forgetReading = (tx: Tx, remembered: Remembered): Promise<void> =>
  deleteMeta(tx, metaOf(remembered));

function metaOf({ reading: { source }, columns }: Remembered): string {
  const header = JSON.stringify([source, ...columns]);
  return `${readingMeta}${new Bun.CryptoHasher("sha256").update(header).digest("hex")}`;
}
