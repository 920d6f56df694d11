/**
 * An import: plan what the records of a list change, and do it in one transaction. How it was read
 * is remembered, so that the next list is read the same way, without any guess.
 */
import { and, count, eq, gt, isNull, like, max, type SQL } from "drizzle-orm";
import { AppError } from "../../domain/errors.ts";
import { int64Min } from "../../domain/int64.ts";
import type { Database, Tx } from "../../storage/database.ts";
import {
  categoriesInUse,
  categoryWords,
  lastGiven,
  nameCategories,
  rememberWord,
} from "../animals/categories.ts";
import { batches, type Change, type Editing, makeChange } from "../animals/changes.ts";
import { longWork } from "../long-work.ts";
import { deleteMeta, readingMeta, setMeta } from "../meta.ts";
import { ImportCategories, wordFor } from "./plan/categories.ts";
import {
  Matching,
  namelessEntryOf,
  newestOf,
  type PlannedList,
  rejectionOf,
} from "./plan/match.ts";
import { type ImportOptions, type Lacking, Plan } from "./plan/plan.ts";
import { type Entry, entryOf, isDesk, lastPeople, storeAdded, storeEntries } from "./plan/said.ts";
import { type ImportSummary, summary } from "./report.ts";
import { fits, type Prepared, type Reading } from "./understand/propose.ts";
import type { Candidate, Outcome } from "./understand/record.ts";

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

interface ImportEditing extends Omit<Editing, "onChange"> {
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
  const onChange = (id: bigint) => void (change = id);
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
    for (const [name, id] of (applied && options.meant) || []) {
      await rememberWord(made, name, id, id);
      made.isStored = true;
    }
    const done = summary(prepared, found, options, { applied, categoriesAdded });
    const { format, source, kept, reading } = done;
    const keptAnimals = done.keptAnimals.slice(0, keptMax).map(({ name, by }) => ({ name, by }));
    made.summary = { format, source, ...(kept > 0 && { kept, keptAnimals }) };
    if (remembers && applied && format !== "rehome") {
      const isWhole = options.complete === true;
      const remembered = { reading, columns: prepared.columns, isWhole, at: made.atMs };
      await setMeta(made.tx, metaOf(remembered), JSON.stringify(remembered));
    }
    await ends?.(made.tx, done);
    return done;
  };
  const done = await makeChange({ ...editing, onChange }, "import", work, longWork);
  return { ...done, dryRun: false, change };
}

const keptMax = 20;

/** Adds and changes the animals of a plan. */
async function carryOut(change: Change, { plan, added, categories }: Planned): Promise<void> {
  await change.plan(plan.events);
  // What is gone or renamed makes room for what is new.
  await change.carryOut();
  const { tx } = change;
  const { pets } = tx.t;
  const { source, isWhole, isDesk: isOwn } = plan.list;
  const [before] = await tx.select({ id: max(pets.id) }).from(pets);
  const words = new Map<bigint, string>();
  for (const part of batches(added)) {
    const rows = part.map(({ name, status, externalId, source: own, category }) => {
      const categoryId = categories.idOf(category);
      const isListed = externalId !== undefined;
      if (isListed) words.set(categoryId, wordFor(category));
      return { name, status, externalId, source: isListed || isWhole ? own : "", categoryId };
    });
    await change.add(rows);
  }
  const isNew = and(gt(pets.id, before?.id ?? int64Min), eq(pets.createdIn, change.id));
  if (!isOwn) await storeAdded(tx, change.id, isNew, words);
  const nameless = isWhole && !isOwn ? await namelessOf(tx, added, isNew) : [];
  await storeEntries(tx, source, change.id, [...plan.entries, ...nameless]);
  // An undo takes back what a list said, too.
  change.isStored ||= plan.entries.length > 0;
}

/** What a whole list says of the animals without ids that a change added: `isNew` means them. */
async function namelessOf(
  { select, t: { pets } }: Tx,
  added: readonly Candidate[],
  isNew: SQL | undefined,
): Promise<Entry[]> {
  const own = and(isNew, isNull(pets.externalId));
  const rows = await select({ id: pets.id }).from(pets).where(own).orderBy(pets.id);
  const nameless = added.filter(({ externalId }) => externalId === undefined);
  const alike = Map.groupBy(nameless, namelessEntryOf);
  return nameless.flatMap((record, at) => {
    const entry = namelessEntryOf(record);
    // Nothing tells those apart that are called alike.
    return alike.get(entry)?.length === 1 ? entryOf(record, entry, rows[at]?.id ?? null) : [];
  });
}

/** What the records come to beside the animals of the store. */
export type Planned = Awaited<ReturnType<typeof planned>>;

async function planned(tx: Tx, prepared: Prepared, options: ImportOptions) {
  const { understanding, input } = prepared;
  const { newIds = false, skipBad = false, isSame } = options;
  const list = listOf(prepared, options);
  const isAnyNumber = prepared.reading.format !== "map";
  const known = await categoriesInUse(tx);
  const words = new Map([...(await categoryWords(tx)), ...(options.meant ?? [])]);
  const last = await lastGiven(tx);
  const categories = new ImportCategories(known, words, last, options, isAnyNumber);
  const { records, rejections: bad } = sorted(understanding.outcomes, categories);
  const newest = newestOf(records, newIds);
  const matching = new Matching(tx, list, categories, newIds);
  const plan = new Plan(tx, list, categories, options);
  for (const part of batches(newest.identified, 1_000)) await plan.take(await matching.byIds(part));
  for (const part of batches(await matching.byNames(newest.anonymous))) await plan.take(part);
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
  const refusal = await refusalOf(tx, plan, prepared, options, { sourceAnimals, rejections });
  const keptIds = plan.kept.map(({ id }) => id);
  const people = await lastPeople(tx, keptIds);
  const used = new Set([
    ...added.map(({ category }) => categories.idOf(category)),
    ...plan.events.map(({ after }) => after?.categoryId),
  ]);
  const newCategories = categories.newOf(used);
  const all = { records, newest, rejections, isSound, refusal, people };
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

/** The sound records, and those that are bad, also for their categories. */
function sorted(outcomes: readonly Outcome[], categories: ImportCategories) {
  // Those with an id go first, so that no other one gets it.
  for (const each of outcomes) if (each.kind === "pet") categories.byId(each.category);
  const checked = outcomes.map((outcome) => {
    const found = outcome.kind === "pet" && categories.resolve(outcome.category);
    if (outcome.kind !== "pet" || typeof found !== "object") return outcome;
    const rejection = rejectionOf(outcome, "category", found);
    const isUnknown = found.code === "categoryUnknown";
    return isUnknown ? { ...rejection, unknownCategory: true as const } : rejection;
  });
  const records = checked.filter((each) => each.kind !== "reject");
  return { records, rejections: checked.filter((each) => each.kind === "reject") };
}

const wordsShown = 5;

/** Why a list is refused as a whole: what it would change is not what its source means. */
async function refusalOf(
  tx: Tx,
  { list, identity, counts: { missing, waiting } }: Plan,
  { isSourceNamed, input: { partial }, understanding }: Prepared,
  { withdraws, confirmed }: ImportOptions,
  { sourceAnimals, rejections }: Pick<Lacking, "sourceAnimals" | "rejections">,
): Promise<AppError | undefined> {
  const { matched, renamed, example } = identity;
  if (!isSourceNamed && !list.isDesk && 2 * renamed > matched) {
    const text = `This seems to be another list: ${renamed} of the ${matched} animals with the same ids have other names here, such as ${example}.`;
    const hint = "Name the source of this list with --source, such as --source cats.";
    return refused(text, hint, "otherList");
  }
  const lacking = `${missing} of the ${sourceAnimals} animals of ${list.source} are not in`;
  const isWithdrawing = missing > 0;
  if (isWithdrawing && partial !== undefined) {
    const text = `This list says that it is not whole (${partial}), and ${lacking} it.`;
    return refused(text, "Import all of its pages in one list, or leave out --complete.");
  }
  const isByPerson = isWithdrawing && withdraws === undefined;
  if (isByPerson && rejections.length > 0) {
    const text = `A whole list must not have bad records, and this one has ${rejections.length}: their animals would be withdrawn.`;
    return refused(text, "See them with --dry-run and fix them, or import without --complete.");
  }
  const damaged = understanding.notes.find(({ said }) => said.code === "idsDamaged");
  if (isWithdrawing && damaged !== undefined) {
    const text = `A whole list must not have damaged ids, and this one has ${damaged.records}: their animals would be withdrawn.`;
    const hint = "Export the list again without a spreadsheet, or import without --complete.";
    return refused(text, hint);
  }
  if (isByPerson && 2 * missing > sourceAnimals && confirmed !== true) {
    const hint = "See whether the list is whole, and add --yes to withdraw them.";
    return refused(`${lacking} this list.`, hint, "mostMissing");
  }
  const { pets } = tx.t;
  const isOpen = and(eq(pets.source, list.source), eq(pets.status, "available"));
  const [{ available } = { available: 0 }] = await tx
    .select({ available: count() })
    .from(pets)
    .where(isOpen);
  if (2 * waiting <= available) return undefined;
  const unknown = new Set(rejections.flatMap(({ unknownStatus }) => unknownStatus ?? []));
  const words = [...unknown].slice(0, wordsShown).map((word) => JSON.stringify(word));
  const text = `${waiting} of the ${available} available animals have words for their status that are not known: ${words.join(", ")}.`;
  return refused(text, "Say what the words mean with --status.", "mostUnexplained");
}

function refused(text: string, hint: string, code?: string): AppError {
  const told = { hint, ...(code !== undefined && { code }) };
  return new AppError("invalid_request", `${text} Nothing was changed.`, told);
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

/** How a list with these columns was read; of no named source, the last list with this header. */
export async function recallReading(
  { select, t: { storeState } }: Tx,
  columns: readonly string[],
  source: string | undefined,
): Promise<Remembered | undefined> {
  const isReading = like(storeState.name, `${readingMeta}%`);
  const rows = await select().from(storeState).where(isReading);
  const all = rows.map(({ value }) => JSON.parse(value) as Remembered);
  const own = all
    .filter(({ reading }) => source === undefined || reading.source === source)
    .toSorted((a, b) => b.at - a.at);
  const same = own.find((each) => Bun.deepEquals(each.columns, columns));
  if (same !== undefined || source === undefined) return same;
  return own.find(({ reading }) => fits(reading, columns));
}

export const forgetReading = (tx: Tx, remembered: Remembered): Promise<void> =>
  deleteMeta(tx, metaOf(remembered));

function metaOf({ reading: { source }, columns }: Remembered): string {
  const header = JSON.stringify([source, ...columns]);
  return `${readingMeta}${new Bun.CryptoHasher("sha256").update(header).digest("hex")}`;
}
