/**
 * Followed lists: how they are stored, and a pull, which fetches a list, reads it as a person
 * confirmed, and imports it. What goes wrong changes nothing, and the schedule says what it was.
 */
import { and, count, eq, gte } from "drizzle-orm";
import type { LoadedConfig } from "../../config.ts";
import { dayMs } from "../../domain/clock.ts";
import { AppError } from "../../domain/errors.ts";
import { longWork } from "../long-work.ts";
import type { Services } from "../../service/services.ts";
import { columnsOf, type Database, type Tables, type Tx } from "../../storage/database.ts";
import * as jobs from "../schedule/jobs.ts";
import { type Change, type Editing, makeChange } from "../animals/changes.ts";
import { type ImportRefused, runImport } from "../import/import.ts";
import { causesText, importedText, type ImportSummary } from "../import/report.ts";
import { type Message, message, messageText } from "../import/messages.ts";
import type { ImportOptions } from "../import/plan/plan.ts";
import { isAmong, leaveOut } from "../import/plan/said.ts";
import { UnreadableInput } from "../import/read/input.ts";
import { idPrefix } from "../import/understand/record.ts";
import { prepareAgain, type Prepared, type Reading } from "../import/understand/propose.ts";
import { type Fetched, fetchList, type FetchLimits, type NoList, noList } from "./fetch.ts";
import { pullPrivateSetting } from "./index.ts";
import { type Meaning, statusKey } from "../import/understand/words.ts";

export type Source = Tables["sources"]["$inferSelect"];
export type NewSource = Tables["sources"]["$inferInsert"];

export interface Followed {
  readonly source: Source;
  readonly job: jobs.Job;
}

/** True for a list that was not pulled for several intervals, though nobody paused it. */
export function isStale({ source, job }: Followed, nowMs: number): boolean {
  const sinceMs = nowMs - (job.succeededAtMs ?? source.createdAtMs);
  return job.paused === null && jobs.lateness(job.everyMs, sinceMs) !== "ok";
}

/** Words for the status that nobody explained yet, each with its animals. */
type Words = { readonly word: string; readonly animals: number }[];

/** What the last list came to, as it is stored and shown. */
export type Report = { readonly words?: Words; readonly text?: string };

/** The words of the last list that wait for a meaning; none that was given since. */
export function waitingWords({ report, reading }: Source): Words {
  const { words = [] } = (report ?? {}) as Report;
  const { statuses } = reading as Pick<Reading, "statuses">;
  // As words are compared today: they may have been kept by another version.
  const told = new Set(Object.keys(statuses).map(statusKey));
  return words.filter(({ word }) => !told.has(statusKey(word)));
}

export const animalsOf = (words: Words): number =>
  words.reduce((sum, { animals }) => sum + animals, 0);
export const quoted = (words: Words): string =>
  words.map(({ word }) => JSON.stringify(word)).join(", ");

/**
 * Explains more words of a list, or changes how it is followed. It is taken again, at once, even if
 * it is as it was: an undo may have taken its animals away. A pull under way changes nothing.
 */
export async function setSource(
  tx: Tx,
  name: string,
  words: ReadonlyMap<string, Meaning>,
  nowMs: number,
  changes: Partial<NewSource> = {},
  job: Parameters<typeof jobs.setJob>[2] = {},
): Promise<Source> {
  const { source, job: seen } = await findFollowed(tx, name);
  const known = source.reading as Reading;
  const statuses = { ...known.statuses, ...Object.fromEntries(words) };
  const reading = { ...known, statuses };
  await updateSource(tx, name, { ...changes, reading, hash: null });
  await jobs.setJob(tx, seen.name, { ...job, nextAtMs: nowMs, triedAtMs: nowMs });
  return { ...source, reading };
}

export const sourceStates = ["ok", "waiting", "failing", "held", "partial", "paused"] as const;

export function stateOf({ source, job }: Followed): (typeof sourceStates)[number] {
  if (job.paused !== null) return "paused";
  if (job.failures > 0) return "failing";
  if (source.held !== null) return "held";
  if (job.problem !== null) return "partial";
  return job.succeededAtMs === null ? "waiting" : "ok";
}

/** All followed lists, or the one of this name. */
export async function followed(tx: Tx, name?: string): Promise<Followed[]> {
  const { schedule, sources } = tx.t;
  const isOwn = and(eq(schedule.kind, "pull"), eq(schedule.target, sources.name));
  const rows = await tx
    .select({ source: columnsOf(sources), job: columnsOf(schedule) })
    .from(sources)
    .innerJoin(schedule, isOwn)
    .where(name === undefined ? undefined : eq(sources.name, name))
    .orderBy(sources.name);
  return rows.map(({ source, job }) => ({ source, job: jobs.readJob(job) }));
}

export async function findFollowed(tx: Tx, name: string): Promise<Followed> {
  const [list] = await followed(tx, name);
  if (list !== undefined) return list;
  const hint = "rehome sources list";
  throw new AppError("not_found", `No followed list is called ${name}.`, { hint });
}

export async function follow(tx: Tx, source: NewSource, everyMs: number, nextAtMs: number) {
  const added = await tx.run(tx.insert(tx.t.sources).values(source).onConflictDoNothing());
  if (added === 0) {
    const hint = `rehome sources show ${source.name}, or remove it first.`;
    const said = `A list called ${source.name} is followed already.`;
    throw new AppError("invalid_request", said, { hint });
  }
  await jobs.scheduleJob(tx, { kind: "pull", target: source.name, everyMs, nextAtMs });
}

export async function unfollow(db: Database, name: string): Promise<void> {
  await db.transaction(async (tx) => {
    await jobs.removeJob(tx, jobs.jobName("pull", name));
    await tx.delete(tx.t.sources).where(eq(tx.t.sources.name, name));
  });
}

export async function updateSource(tx: Tx, name: string, changes: Partial<NewSource>) {
  await tx.update(tx.t.sources).set(changes).where(eq(tx.t.sources.name, name));
}

export interface Pulling extends FetchLimits {
  readonly db: Database;
}

export function pullingOf({ store, clock }: Services, loaded: LoadedConfig): Pulling {
  return { db: store.db, clock, allowPrivate: loaded.valueOf(pullPrivateSetting) === "on" };
}

interface PullOptions {
  /** True for a pull that the schedule began, which is claimed already. */
  readonly isScheduled?: boolean;
  /** The list is right of every animal, whatever people changed, also if it is as it was. */
  readonly listWins?: boolean;
  /** A list that a person was shown. The categories that its preview had are agreed to. */
  readonly shown?: Fetched;
}

/**
 * Pulls a followed list now, in place of another pull that is under way, and stores how it ended.
 * Throws AppError if none has this name.
 */
export async function pull(
  pulling: Pulling,
  name: string,
  { isScheduled = false, listWins = false, shown }: PullOptions = {},
) {
  const { db, clock } = pulling;
  const { source, job: seen } = await db.read((tx) => findFollowed(tx, name));
  const job = isScheduled ? seen : await jobs.claimJob(db, seen, clock());
  if (job === undefined) return noList("pullOvertaken");
  /** Stores how it ended, unless another one took its place. Returns whether it did. */
  const ends = async (tx: Tx, outcome: jobs.JobOutcome, changed: Partial<NewSource>) => {
    const isOwn = await jobs.finishJob(tx, job, outcome, clock());
    if (isOwn) await updateSource(tx, name, changed);
    return isOwn;
  };
  try {
    // Backups that are not encrypted have blank ones.
    if (source.secret === "") throw noList("credentialMissing");
    const fetched = shown ?? (await fetchList(source, pulling));
    const hash = hashOf(fetched.bytes);
    if (listWins || hash !== source.hash) {
      const createCategories = source.createsCategories === 1 || shown !== undefined;
      return await take(pulling, source, fetched, ends, { listWins, createCategories });
    }
    await db.transaction((tx) => ends(tx, { ok: true }, { hash }));
    return "unchanged";
  } catch (error) {
    if (!(error instanceof UnreadableInput || error instanceof AppError)) throw error;
    const { problem, retryAfterMs, summary } = error as Partial<NoList & ImportRefused>;
    const outcome = { ok: false, problem: { text: error.message, ...problem }, retryAfterMs };
    // The words that it waits for are named, though nothing was imported.
    const words = summary && { words: wordsIn(summary) };
    const report = { ...(source.report as Report | null), ...words };
    await db.transaction((tx) => ends(tx, outcome, { report }));
    return error;
  }
}

const hashOf = (data: Uint8Array | string): string =>
  new Bun.CryptoHasher("sha256").update(data).digest("base64url");

/** Imports a list that was fetched. `stores` how that ended in the same transaction. */
async function take(
  { db, clock }: Pulling,
  { name, complete, reading }: Source,
  fetched: Fetched,
  stores: (tx: Tx, outcome: jobs.JobOutcome, changed: Partial<NewSource>) => Promise<boolean>,
  options: ImportOptions,
) {
  const pulled = { problem: undefined as Message | undefined, text: "", held: [] as string[] };
  const ends = async (tx: Tx, done: ImportSummary) => {
    const ofRecords = problemIn(done);
    const problem = (pulled.problem ??= ofRecords);
    pulled.text = textOf(done, problem);
    const said = problem && { text: messageText(problem), ...problem };
    const changed = {
      report: { words: wordsIn(done), text: pulled.text },
      held: pulled.held.length === 0 ? null : pulled.held,
      // What is not whole is taken again, however often it is the same.
      hash: problem === undefined ? hashOf(fetched.bytes) : null,
    };
    const isStored = await stores(tx, { ok: true, problem: said }, changed);
    if (!isStored) throw noList("pullOvertaken");
  };
  const prepared = await readAgain(fetched, reading as Reading);
  const summary = await runImport({ db, clock, actor: `source ${name}`, ends }, prepared, {
    ...options,
    skipBad: true,
    complete: complete === 1,
    async withdraws({ tx, missing, partial, rejections, sourceAnimals }) {
      if (partial !== undefined && missing.length > 0) {
        pulled.problem = message("withdrawalsUnsure", `${missing.length}`, partial);
      }
      // A row in error that has an id protects its animal; one without an id may be any of them.
      const inError = new Set<unknown>(rejections.map(({ externalId }) => externalId));
      const isUnsure = partial !== undefined || inError.has(undefined);
      const going = isUnsure ? [] : missing.filter((each) => !inError.has(each.externalId));
      const before = await withdrawnSince(tx, name, clock() - dayMs);
      // More than half within a day, or the only animal, may be the source's mistake.
      if (2 * (going.length + before) <= sourceAnimals + before) return going;
      pulled.held = going.map(({ id }) => String(id));
      if (going.length > 0) pulled.problem = message("withdrawalsWait", `${going.length}`);
      return [];
    },
  });
  return { ...summary, ...pulled };
}

/** A list as it is always read. Of rows without an end the last ones may be missing. */
async function readAgain(fetched: Fetched, reading: Reading): Promise<Prepared> {
  const encoding = reading.encoding ?? fetched.encoding;
  const prepared = await prepareAgain(fetched.bytes, { ...reading, encoding });
  const { input } = prepared;
  const isCut = fetched.isEndless === true && ["csv", "ndjson"].includes(input.shape);
  const why = fetched.more ?? (isCut ? "its source does not say where it ends" : undefined);
  return { ...prepared, input: { ...input, partial: input.partial ?? why } };
}

/** How many animals of a source imports withdrew since `sinceMs`, and are still gone. */
async function withdrawnSince(tx: Tx, source: string, sinceMs: number): Promise<number> {
  const { removedPets, changes } = tx.t;
  const isSince = and(eq(removedPets.source, source), gte(removedPets.removedAtMs, sinceMs));
  const [row] = await tx
    .select({ animals: count() })
    .from(removedPets)
    .innerJoin(changes, eq(changes.id, removedPets.removedIn))
    .where(and(isSince, eq(changes.action, "import")));
  return row?.animals ?? 0;
}

const wordsIn = ({ causes }: ImportSummary): Words =>
  causes.flatMap(({ unknownStatus: word, records }) =>
    word === undefined ? [] : { word, animals: records },
  );

/** What of the records waits for a person. Throws NoList where none was taken. */
function problemIn(done: ImportSummary): Message | undefined {
  const { applied, rejected, read, rejections, causes, source } = done;
  const [cause] = causes;
  if (!applied && cause !== undefined) {
    const { field, problem, records } = cause;
    const why = `${field && `${field}: `}${messageText(problem)} (${records})`;
    throw noList("noneTaken", `${read}`, why);
  }
  const first = rejections.find(({ unknownStatus }) => unknownStatus === undefined);
  if (first !== undefined) {
    const id = first.externalId?.replace(idPrefix(source), "") ?? "";
    return message("rowsWrong", `${rejected}`, `${read}`, `${first.line}`, first.field, id);
  }
  const words = wordsIn(done);
  return words.length > 0 ? message("wordsWait", `${animalsOf(words)}`, quoted(words)) : undefined;
}

function textOf(done: ImportSummary, problem: Message | undefined): string {
  if (problem === undefined) return importedText(done);
  const isHeld = problem.code === "withdrawalsWait";
  const yes = `Carry them out: rehome sources pull ${done.source} --yes`;
  const more = isHeld ? `: more than half of the list within a day. ${yes}` : ".";
  const said = `${done.source}: ${messageText(problem)}${more}\n`;
  return `${importedText(done)}${causesText(done, undefined)}${said}`;
}

/** Tells the animals whose withdrawal waits from those of another list. */
export const heldMark = ({ held }: Pick<Source, "held">): string => hashOf((held ?? []).join());

/**
 * Withdraws the animals whose withdrawal waited for a person, as they were shown. Returns how many,
 * undefined if none waited, or others than `shown`. Those that changed hands or came back meanwhile
 * stay.
 */
export function withdrawHeld(editing: Editing, name: string, shown?: string) {
  const work = async (change: Change) => {
    const { tx } = change;
    const { pets } = tx.t;
    const { source, job } = await findFollowed(tx, name);
    if (source.held === null || (shown ?? heldMark(source)) !== heldMark(source)) return undefined;
    const own = and(eq(pets.source, name), isAmong(tx, pets.id, source.held.map(BigInt)));
    await change.planRemoval(own);
    await leaveOut(change, name, await tx.select().from(pets).where(own));
    await updateSource(tx, name, { held: null });
    await jobs.setJob(tx, job.name, { problem: null });
    await change.carryOut();
    return change.counts.removed;
  };
  return makeChange(editing, "remove", work, longWork);
}
