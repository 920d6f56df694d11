/**
 * An import: read the input, understand its records, plan what they change, and do it in one
 * transaction.
 */
import { and, eq, gt, max, type SQL } from "drizzle-orm";
import { AppError } from "../../../domain/errors.ts";
import { int64Min } from "../../../domain/int64.ts";
import { type Database, type Tx } from "../../../storage/database.ts";
import { longWork } from "../../long-work.ts";
import { nameCategories, newCategoryIds } from "../../animals/categories.ts";
import { type Change, type Editing, makeChange, partSize } from "../../animals/changes.ts";
import { type ResolvedCategory, wordFor } from "../plan/categories.ts";
import { forgetEntries, storeAdded, storeEntries } from "../plan/entries.ts";
import { storeNameless } from "../plan/memory.ts";
import type { ImportOptions } from "../plan/options.ts";
import { addedPet, type Plan } from "../plan/plan.ts";
import { planned } from "../plan/planned.ts";
import { batches } from "../plan/store.ts";
import type { Prepared } from "../understand/propose.ts";
import { type ImportSummary, summary } from "./summary.ts";

/** Says what an import would change, and changes nothing. */
export function previewImport(
  db: Database,
  prepared: Prepared,
  options: ImportOptions = {},
): Promise<ImportSummary> {
  return db.read(async (tx) => {
    const found = await planned(tx, prepared, options);
    const ids = await newCategoryIds(tx, found.categories);
    const categoriesAdded = found.categories.map(({ name }, at) => ({ id: ids[at] ?? 0n, name }));
    return summary(prepared, found, options, { applied: false, categoriesAdded });
  }, longWork);
}

/** A list that is refused as a whole, with what there was to say of it. */
export class ImportRefused extends AppError {
  readonly summary: ImportSummary;

  constructor({ kind, message, hint, code }: AppError, found: ImportSummary) {
    super(kind, message, {
      ...(hint !== undefined && { hint }),
      ...(code !== undefined && { code }),
    });
    this.summary = found;
  }
}

interface ImportEditing extends Editing {
  /** Stores more in the transaction, at its end. What it throws undoes all of it. */
  readonly ends?: (tx: Tx, done: ImportSummary) => Promise<void>;
}

/**
 * Imports all animals of a list or none, in one transaction. Throws AppError when a whole list
 * cannot be one, or the store fails.
 */
export async function runImport(
  { ends, ...editing }: ImportEditing,
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
    const { isSound: applied, plan, categories } = found;
    const isNaming = applied && categories.length > 0;
    const categoriesAdded = isNaming ? await nameCategories(made, categories) : [];
    for (const [at, { id }] of categoriesAdded.entries()) {
      const category = categories[at];
      if (category !== undefined) category.id = id;
    }
    if (applied) await carryOutPlan(made, plan, options);
    const done = summary(prepared, found, options, { applied, categoriesAdded });
    const { format, source, kept } = done;
    const keptAnimals = done.keptAnimals.slice(0, keptMax).map(({ name, by }) => ({ name, by }));
    made.summary = { format, source, ...(kept > 0 && { kept, keptAnimals }) };
    await ends?.(made.tx, done);
    return done;
  };
  const done = await makeChange({ ...editing, onChange }, "import", work, longWork);
  return { ...done, dryRun: false, change };
}

/** Animals that a history names as kept. */
const keptMax = 20;

/** Adds and changes the animals of a plan, whose new categories have their ids now. */
async function carryOutPlan(
  change: Change,
  plan: Plan,
  { complete = false }: ImportOptions,
): Promise<void> {
  const idOf = (category: ResolvedCategory | undefined): bigint => {
    if (category?.id !== undefined) return category.id;
    throw new Error(`the category ${category?.name} was not made`);
  };
  for (const part of batches(plan.events, partSize)) {
    await change.plan(
      part.map(({ petId, before, after, category, former }) => ({
        petId,
        before,
        after: after && category ? { ...after, categoryId: idOf(category) } : null,
        former,
      })),
    );
  }
  // What is gone or renamed makes room for what is new.
  await change.carryOut();
  const { memory } = plan;
  const { source, isDesk, isWhole } = memory.list;
  const { tx } = change;
  const { pets } = tx.t;
  const [before] = await tx.select({ id: max(pets.id) }).from(pets);
  const words = new Map<bigint, string>();
  for (const part of batches(plan.added, partSize)) {
    const added = part.map((record) => {
      const categoryId = idOf(plan.categoryOf(record));
      words.set(categoryId, wordFor(record.category));
      return addedPet(record, categoryId, complete);
    });
    await change.add(added);
  }
  if (!isDesk && plan.added.length > 0) {
    const own = and(gt(pets.id, before?.id ?? int64Min), eq(pets.createdIn, change.id)) as SQL;
    await storeAdded(tx, change.id, own, words);
    if (isWhole) await storeNameless(tx, source, change.id, own, words);
  }
  await storeEntries(tx, source, change.id, memory.entries);
  change.isStored ||= memory.isSaidAnew;
  await forgetEntries(tx, source);
}
