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
import { message, type Notes } from "./messages.ts";
import { ImportCategories, wordFor } from "./plan/categories.ts";
import { type ImportOptions, Plan, type PlannedList } from "./plan/plan.ts";
import * as lists from "./plan/said.ts";
import { type ImportSummary, summary } from "./report.ts";
import { fits, type Prepared, type Reading } from "./understand/propose.ts";
import {
  type Candidate,
  type Outcome,
  type Rejection,
  type SoundRecord,
  unnamed,
} from "./understand/record.ts";

export function previewImport(
  db: Database,
  prepared: Prepared,
  options: ImportOptions = {},
): Promise<ImportSummary> {
  const work = async (tx: Tx) => summary(prepared, await planned(tx, prepared, options), false);
  return db.read(work, longWork);
}

/** Why a list is refused as a whole. */
export interface Refused {
  readonly message: string;
  readonly hint: string;
  /** What somebody can answer to. */
  readonly code?: "otherList" | "mostMissing" | "mostUnexplained";
}

/** A list that is refused as a whole, with what there was to say of it. */
export class ImportRefused extends AppError {
  constructor(
    { message, ...told }: Refused,
    readonly summary: ImportSummary,
  ) {
    super("invalid_request", message, told);
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
    const { refusal, isSound: applied } = found;
    const done = summary(prepared, found, applied && refusal === undefined);
    if (refusal !== undefined) throw new ImportRefused(refusal, done);
    if (applied) await carryOut(made, found, options);
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

/** Makes the categories of a plan, and adds and changes its animals. */
async function carryOut(
  change: Change,
  { plan, added, categories, newCategories }: Planned,
  { meant = new Map() }: ImportOptions,
): Promise<void> {
  if (newCategories.length > 0) await nameCategories(change, newCategories);
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
      if (externalId !== undefined) words.set(categoryId, wordFor(category));
      const isListed = externalId !== undefined || isWhole;
      return { name, status, externalId, source: isListed ? own : "", categoryId };
    });
    await change.add(rows);
  }
  const isNew = and(gt(pets.id, before?.id ?? int64Min), eq(pets.createdIn, change.id));
  if (!isOwn) await lists.storeAdded(tx, change.id, isNew, words);
  const nameless = isWhole && !isOwn ? await namelessOf(tx, added, isNew) : [];
  await lists.storeEntries(tx, source, change.id, [...plan.entries, ...nameless]);
  // An undo takes back what a list said, too.
  change.isStored ||= plan.entries.length > 0 || meant.size > 0;
  for (const [name, id] of meant) await rememberWord(change, name, id, id);
}

/** What a whole list says of the animals without ids that a change added: `isNew` means them. */
async function namelessOf(
  { select, t: { pets } }: Tx,
  added: readonly Candidate[],
  isNew: SQL | undefined,
): Promise<lists.Entry[]> {
  const own = and(isNew, isNull(pets.externalId));
  const rows = await select({ id: pets.id }).from(pets).where(own).orderBy(pets.id);
  const nameless = added.filter(({ externalId }) => externalId === undefined);
  const alike = Map.groupBy(nameless, lists.namelessEntryOf);
  return nameless.flatMap((record, at) => {
    const entry = lists.namelessEntryOf(record);
    // Nothing tells those apart that are called alike.
    return alike.get(entry)?.length === 1 ? lists.entryOf(record, entry, rows[at]?.id ?? null) : [];
  });
}

/** What the records come to beside the animals of the store. */
export type Planned = Awaited<ReturnType<typeof planned>>;

async function planned(tx: Tx, prepared: Prepared, options: ImportOptions) {
  const { understanding, input, reading } = prepared;
  const { outcomes } = understanding;
  const { skipBad = false, isSame } = options;
  const { format, source } = reading;
  const list = { source, isDesk: lists.isDesk(format), isWhole: options.complete === true };
  const known = await categoriesInUse(tx);
  const words = new Map([...(await categoryWords(tx)), ...(options.meant ?? [])]);
  const isAnyNumber = format !== "map";
  const last = await lastGiven(tx);
  const categories = new ImportCategories(known, words, last, options, isAnyNumber);
  const { records, rejections: bad } = sorted(outcomes, categories);
  const plan = new Plan(tx, list, categories, options);
  noteLacking(records, list, plan.notes);
  const newest = lists.newestOf(records, plan.notes);
  for (const part of batches(newest.identified, 1_000)) await plan.takeByIds(part);
  await plan.takeByNames(newest.anonymous);
  if (isSame !== undefined) await plan.recognise(isSame);
  const added = plan.added.toSorted((a, b) => a.line - b.line);
  plan.counts.added += added.length;
  const rejections = [...bad, ...plan.rejections];
  /** False if bad records leave the catalogue as it is. */
  const isSound = rejections.length === 0 || (skipBad && rejections.length < outcomes.length);
  // Of a list without a sound record nothing is done, but that its words are told of.
  const told = rejections.filter(({ unknownStatus }) => isSound || unknownStatus !== undefined);
  if (skipBad) await plan.hide(told);
  const sourceAnimals = list.isWhole ? await plan.leaveOut(rejections, input.partial) : 0;
  const refusal = await refusalOf(tx, plan, prepared, options, rejections, sourceAnimals);
  const keptIds = plan.kept.map(({ id }) => id);
  const people = await lists.lastPeople(tx, keptIds);
  const used = new Set([
    ...added.map(({ category }) => categories.idOf(category)),
    ...plan.events.map(({ after }) => after?.categoryId),
  ]);
  const newCategories = categories.newOf(used);
  const found = { records, newest, rejections, isSound, refusal, people };
  return { ...found, plan, added, categories, newCategories };
}

function noteLacking(records: readonly SoundRecord[], { isWhole }: PlannedList, notes: Notes) {
  for (const { kind, line, id, externalId, name = "" } of records) {
    if (kind !== "pet") continue;
    // By names, the next whole list finds the animals of this one again.
    const isAnonymous = !isWhole && (id ?? externalId) === undefined;
    if (isAnonymous) notes.add(message("idsMissing"), line, JSON.stringify(name));
    if (name === unnamed) notes.add(message("namesMissing"), line, externalId ?? "");
  }
}

/** The sound records, and those that are bad, also for their categories. */
function sorted(outcomes: readonly Outcome[], categories: ImportCategories) {
  // Those with an id go first, so that no other one gets it.
  for (const each of outcomes) {
    if (each.kind === "pet" && each.category.id !== undefined) categories.resolve(each.category);
  }
  const checked = outcomes.map((outcome) => {
    const found = outcome.kind === "pet" && categories.resolve(outcome.category);
    if (outcome.kind !== "pet" || typeof found !== "object") return outcome;
    return lists.rejectionOf(outcome, "category", found);
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
  rejections: readonly Rejection[],
  sourceAnimals: number,
): Promise<Refused | undefined> {
  const { matched, renamed, example } = identity;
  const refused = (text: string, hint: string, code?: Refused["code"]) => {
    return { message: `${text} Nothing was changed.`, hint, ...(code && { code }) };
  };
  if (list.isWhole && list.source === "") {
    return refused("--complete needs the source of this list.", "Name the source with --source.");
  }
  if (!isSourceNamed && !list.isDesk && 2 * renamed > matched) {
    const text = `This seems to be another list: ${renamed} of the ${matched} animals with the same ids have other names here, such as ${example}.`;
    const hint = "Name the source of this list with --source, such as --source cats.";
    return refused(text, hint, "otherList");
  }
  const lacking = `${missing} of the ${sourceAnimals} animals of ${list.source} are not in`;
  const isByPerson = withdraws === undefined;
  const damaged = understanding.notes.find(({ said }) => said.code === "idsDamaged");
  const [flaw] = [
    partial === undefined ? "" : `says that it is not whole (${partial})`,
    isByPerson && rejections.length > 0 ? `has bad records (${rejections.length})` : "",
    damaged === undefined ? "" : `has damaged ids (${damaged.records})`,
  ].filter((each) => each !== "");
  if (missing > 0 && flaw !== undefined) {
    const hint = "Import a list that is whole and sound, or leave out --complete.";
    return refused(`This list ${flaw}, and ${lacking} it.`, hint);
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
  return same ?? own.find(({ reading }) => source !== undefined && fits(reading, columns));
}

export const forgetReading = (tx: Tx, remembered: Remembered): Promise<void> =>
  deleteMeta(tx, metaOf(remembered));

function metaOf({ reading: { source }, columns }: Remembered): string {
  const header = JSON.stringify([source, ...columns]);
  return `${readingMeta}${new Bun.CryptoHasher("sha256").update(header).digest("hex")}`;
}
