/** The undo of a change: a change itself, in one transaction, of what nothing changed since. */
import { and, desc, eq, isNull, lt, sql } from "drizzle-orm";
import { dayMs, isoSeconds } from "../../domain/clock.ts";
import { AppError } from "../../domain/errors.ts";
import { longWork } from "../long-work.ts";
import { columnsOf, type Tx } from "../../storage/database.ts";
import { jobName, setJob } from "../schedule/jobs.ts";
import { undoCategories } from "./categories.ts";
import {
  type Change,
  type ChangeRow,
  type Editing,
  editingOf,
  makeChange,
  stateIn,
  stateJson,
  storedMs,
} from "./changes.ts";
import { changeById } from "./animals.ts";
import { json, printJson, type Static } from "../json.ts";
import { yesOption } from "../options.ts";
import { confirm } from "../confirm.ts";
import { counted, grouped } from "../../cli/terminal/text.ts";
import { storeCommand } from "../command.ts";
import { idArgument } from "./commands/pets.ts";

/** What `--json` prints, too. */
type UndoReport = Static<typeof undoneSchema>;

const undoneSchema = json.object({
  change: json.int64("the change that was undone"),
  action: json.text("what it was"),
  actor: json.text("who did it"),
  at: json.time("when"),
  updated: json.count("animals whose fields were restored"),
  removed: json.count("animals that the change had added or restored, now removed"),
  restored: json.count("animals that the change had removed, now restored"),
  left: json.count("animals left unchanged, because they were changed since"),
  categories: json.count("categories that were restored"),
});

const isNothing = ({ removed, restored, updated, categories }: UndoReport): boolean =>
  removed + restored + updated + categories === 0;

/**
 * Undoes a change, by default the last one in force; later changes stay. A change of which nothing
 * can be undone now stays in force: once what came later is undone, it can be. Throws AppError when
 * there is no such change, or when it was already undone. To rehearse it changes nothing.
 */
export async function undoChange(
  editing: Editing,
  { change, rehearse = false }: { change?: bigint | undefined; rehearse?: boolean },
): Promise<UndoReport> {
  const notStored = new Error("only a report");
  let report: UndoReport | undefined;
  const work = async (undo: Change) => {
    report = await takeBack(undo, await toUndo(undo, change));
    if (rehearse || (report.left > 0 && isNothing(report))) throw notStored;
    return report;
  };
  return makeChange(editing, "undo", work, longWork).catch((error: unknown) => {
    if (error === notStored && report !== undefined) return report;
    throw error;
  });
}

async function toUndo({ tx, id, atMs }: Change, wanted: bigint | undefined): Promise<ChangeRow> {
  const change = wanted === undefined ? await lastChange(tx, id) : await changeById(tx, wanted);
  if (change === undefined) {
    const which = wanted === undefined ? "" : ` ${wanted}`;
    throw new AppError("not_found", `There is no change${which} to undo.`);
  }
  if (change.atMs < atMs - storedMs) {
    // What it did is forgotten bit by bit, so that a part of it would be undone.
    const message = `The change ${change.id} is older than ${storedMs / dayMs} days.`;
    throw new AppError("not_found", message);
  }
  if (change.undoneIn === null && change.undoes === null) return change;
  const what = change.undoes === null ? "was already undone" : "is an undo itself";
  throw new AppError("invalid_request", `The change ${change.id} ${what}.`);
}

/** The newest change before `end` that is still in force and is no undo itself. */
export async function lastChange(tx: Tx, end: bigint): Promise<ChangeRow | undefined> {
  const { changes } = tx.t;
  const inForce = and(lt(changes.id, end), isNull(changes.undoneIn), isNull(changes.undoes));
  const newest = tx.select(columnsOf(changes)).from(changes).where(inForce);
  return (await newest.orderBy(desc(changes.id)).limit(1))[0];
}

async function takeBack(undo: Change, change: ChangeRow): Promise<UndoReport> {
  const { tx } = undo;
  const { changes, petEvents, removedPets } = tx.t;
  const left = (await planBack(undo, change.id)) + (await undo.dropTaken());
  await undo.carryOut();
  // Whom the change brought back as others is removed as before: 1.0.0 stored nothing of that.
  await tx.run(sql`UPDATE ${removedPets} SET ${stateIn(removedPets, sql`after -> 'former'`)}
    FROM ${petEvents} WHERE ${petEvents.changeId} = ${change.id} AND removed_in = ${undo.id}
      AND ${petEvents.petId} = ${removedPets.id} AND after ->> 'former' IS NOT NULL`);
  await undoCategories(undo, change);
  for (const kept of [tx.t.listEntries, tx.t.categoryWords]) {
    await tx.delete(kept).where(eq(kept.changeId, change.id));
  }
  await tx.update(changes).set({ undoneIn: undo.id }).where(eq(changes.id, change.id));
  await tx.update(changes).set({ undoes: change.id }).where(eq(changes.id, undo.id));
  const { source } = change.summary;
  // The next pull would do again what a person took back.
  if (change.action === "import" && typeof source === "string") {
    await setJob(tx, jobName("pull", source), { paused: "undo" });
  }
  undo.summary = { left, action: change.action };
  undo.isStored = true;
  const { removed, restored, updated } = undo.counts;
  const { id, action, actor, atMs } = change;
  const done = { updated, removed, restored, left, categories: undo.categories.length };
  return { change: id, action, actor, at: isoSeconds(atMs), ...done };
}

/**
 * Plans to take back what `change` did to animals. Returns how many it leaves: those to which a
 * later change did something that no undo took back, as an undo may have left some of its animals.
 */
async function planBack(undo: Change, change: bigint): Promise<number> {
  const { tx, id } = undo;
  const { changes, pets, petEvents, removedPets } = tx.t;
  const its = sql`(SELECT id FROM ${pets} WHERE created_in = ${change}
    UNION SELECT id FROM ${removedPets} WHERE created_in = ${change}
    UNION SELECT pet_id FROM ${petEvents} WHERE change_id = ${change})`;
  const changed = sql`(SELECT later.pet_id
    FROM ${petEvents} AS later JOIN ${changes} AS made ON made.id = later.change_id
    WHERE later.change_id > ${change} AND later.change_id < ${id} AND made.undoes IS NULL
      AND NOT EXISTS (SELECT 1
        FROM ${petEvents} AS back JOIN ${changes} AS undo ON undo.id = back.change_id
        WHERE back.pet_id = later.pet_id AND undo.undoes = made.id))`;
  const all = sql`SELECT count(*) AS animals FROM ${its} AS its`;
  const [found] = await tx.rows<{ animals: bigint }>(all);
  // Of an animal that the change added or brought back there is nothing before it.
  const planned = await undo.planAll(sql`
    SELECT its.id, CASE WHEN ${pets.id} IS NOT NULL THEN ${stateJson(tx)} END, event.before
    FROM ${its} AS its LEFT JOIN ${pets} ON ${pets.id} = its.id
      LEFT JOIN ${petEvents} AS event ON event.pet_id = its.id AND event.change_id = ${change}
    WHERE its.id NOT IN ${changed} AND (${pets.id} IS NOT NULL OR event.before IS NOT NULL)`);
  return Number(found?.animals) - planned;
}

export const undoCommand = storeCommand<{ readonly yes?: true }, [bigint | undefined]>({
  name: "undo",
  about: "show the last change of animals or categories, and undo it",
  arguments: [idArgument("another change, by its number in pets history", "[change]")],
  options: [yesOption("do not ask; required without a terminal")],
  remark: `An import is one change. Animals that were changed since stay as they are, and are counted. Changes are stored for 90 days.
Animals that programs add through the API cannot be undone.`,
  examples: ["rehome undo", "rehome undo --yes --json"],
  json: undoneSchema,
  async run(io, services, given, wanted) {
    const editing = editingOf(services);
    const yes = given.yes === true;
    const shown = await undoChange(editing, { change: wanted, rehearse: !yes });
    const { change, action, actor, at } = shown;
    const effect = yes ? "" : ` ${effectOf(shown)}`;
    io.err(`Change ${change}: ${action} by ${actor}, ${at}.${effect}\n`);
    await confirm(io, "Undo it?", { yes, unattended: "refuse", why: "This undoes a change" });
    // The change that was shown, even if there is a newer one.
    const did = yes ? shown : await undoChange(editing, { change });
    if (given.json) return printJson(io, did);
    const what = isNothing(did) ? "Nothing was changed" : `Undid change ${did.change}`;
    io.out(`${what}. ${effectOf(did)}\n`);
  },
});

function effectOf({ updated, removed, restored, left, categories }: UndoReport): string {
  const counts = { "changed back": updated, removed, "brought back": restored };
  const animals = Object.entries(counts).filter(([, count]) => count > 0);
  const changed = animals.map(([what, count]) => `${grouped(count)} ${what}`).join(", ");
  const named = categories && `${counted(categories, "category", "categories")} changed back`;
  const done = [changed && `Animals: ${changed}`, named].filter(Boolean).join("; ");
  const were = left === 1 ? "it was" : "they were";
  const rest = left === 0 ? "" : ` ${grouped(left)} left unchanged, because ${were} changed since.`;
  return `${done || "Nothing of it is left to undo"}.${rest}`;
}
