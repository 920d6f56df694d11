import type { Category } from "./category.ts";
import { printable } from "../../cli/terminal/text.ts";
import { AppError } from "../../domain/errors.ts";
import { int64Max, parseInt64 } from "../../domain/int64.ts";
import {
  addCategories,
  categoriesInUse,
  categoryById,
  categoryByName,
  type CategoryUse,
  dropCategory,
  highestCategoryId,
  isCarried,
  namedCategories,
  nameNumbers,
  renameCategory,
} from "./statements/categories.ts";
import {
  type By,
  carryOut,
  type CategoryEvent,
  describeChange,
  dropChange,
  planUpdate,
} from "./statements/changes.ts";
import { sql, type Steps } from "../../storage/statement.ts";
import { isVisible } from "../visible.ts";
import { changing, type Editing, type OnChange } from "./editing.ts";

export type { CategoryUse };

/** A category as a person names it: by its id, or by its name in any case. */
export interface CategoryReference {
  readonly text: string;
  /** Makes an unknown category; undefined if nothing may be made. */
  readonly create?: boolean | undefined;
}

/** A category that was found, and what was made for it. */
interface ResolvedCategory {
  readonly id: bigint;
  readonly made: readonly CategoryEvent[];
}

/** Categories in an error at the most. */
const shownMax = 20;

/**
 * The category that `reference` means: a number that has a name or an animal, else a name. Throws
 * `not_found`, with the known names, when there is none and none may be made.
 */
export function* resolveCategory({ text, create }: CategoryReference): Steps<ResolvedCategory> {
  const name = text.trim();
  const id = parseInt64(name);
  if (id !== undefined && ((yield* categoryById(id)) !== undefined || (yield* isCarried(id)))) {
    return { id, made: [] };
  }
  const named = yield* categoryByName(name);
  if (named !== undefined) return { id: named.id, made: [] };
  // If no category has a name, any number is valid.
  const known = yield* namedCategories();
  if (id !== undefined && known.length === 0) return { id, made: [] };
  if (create !== true) throw unknownCategory(name, known, create !== undefined);
  // A number needs no name; animals carry it from now on.
  if (id !== undefined) return { id, made: [] };
  return yield* makeCategory(name, undefined);
}

/** The name without blanks around it. Throws `invalid_request` for one that nobody can see. */
function visibleName(name: string): string {
  if (isVisible(name)) return name.trim();
  const message = "The name of a category must have a character that can be seen.";
  throw new AppError("invalid_request", message);
}

function* makeCategory(given: string, wanted: bigint | undefined): Steps<ResolvedCategory> {
  const name = visibleName(given);
  const highest = wanted === undefined ? yield* highestCategoryId() : 0n;
  if (highest === int64Max) {
    throw new AppError("invalid_request", `No id is left above ${int64Max}.`, {
      hint: "Choose an id for the new category with --id.",
    });
  }
  const id = wanted ?? highest + 1n;
  return { id, made: yield* nameNumbers([{ id, name }]) };
}

function unknownCategory(name: string, known: readonly Category[], mayCreate: boolean): AppError {
  const shown = known.slice(0, shownMax).map((each) => `${printable(each.name)} (${each.id})`);
  const more = known.length > shownMax ? `, and ${known.length - shownMax} more` : "";
  const list = known.length === 0 ? "None has a name yet" : `Known: ${shown.join(", ")}${more}`;
  return new AppError("not_found", `There is no category ${JSON.stringify(name)}. ${list}.`, {
    hint: `${mayCreate ? "Add --create-category to make it; " : ""}rehome categories list shows all.`,
  });
}

/** Work on categories. Each change is one transaction, which can be undone. */
export class CategoryService {
  readonly #editing: Editing;

  constructor(editing: Editing) {
    this.#editing = editing;
  }

  /** The same for another person. `onChange` is told the number of each change that they make. */
  as(actor: string, onChange?: OnChange): CategoryService {
    return new CategoryService({ ...this.#editing, actor, onChange });
  }

  /** All categories, named or carried by animals, in the order of their ids. */
  async list(): Promise<CategoryUse[]> {
    return this.#editing.store.read(categoriesInUse, { patient: true });
  }

  /** The categories that have a name, in the order of their ids. */
  async named(): Promise<Category[]> {
    return this.#editing.store.read(namedCategories);
  }

  /** The names of those by their ids. */
  async names(): Promise<ReadonlyMap<bigint, string>> {
    return new Map((await this.named()).map(({ id, name }) => [id, name]));
  }

  /** Names a category: the one with `id`, or a new one. */
  async add(name: string, id?: bigint): Promise<Category> {
    return this.#changing("add category", function* (change) {
      yield* refuseTaken(name);
      const current = id === undefined ? undefined : yield* categoryById(id);
      if (current !== undefined) {
        throw new AppError(
          "invalid_request",
          `The category ${id} has a name, ${JSON.stringify(current.name)}.`,
          { hint: "Rename it with rehome categories rename." },
        );
      }
      const made = yield* makeCategory(name, id);
      yield* describeChange(change, { name: name.trim(), id: made.id }, made.made);
      return { id: made.id, name: name.trim() };
    });
  }

  async rename(reference: string, name: string): Promise<Category> {
    return this.#changing("rename category", function* (change) {
      const { id } = yield* resolveCategory({ text: reference });
      const before = yield* categoryById(id);
      yield* refuseTaken(name, id);
      const after = visibleName(name);
      if (before?.name === after) {
        yield* dropChange(change);
        return { id, name: after };
      }
      if (before === undefined) yield* addCategories([{ id, name: after }]);
      else yield* renameCategory(id, after);
      const event =
        before === undefined
          ? { id, after, wasCarried: true as const }
          : { id, before: before.name, after };
      yield* describeChange(change, { id, before: before?.name, after }, [event]);
      return { id, name: after };
    });
  }

  /** Moves the animals of `from` to `into`, and drops `from`. Returns how many animals moved. */
  async merge(from: readonly string[], into: string): Promise<number> {
    return this.#changing("merge categories", function* (change, by) {
      const { id: target } = yield* resolveCategory({ text: into });
      // Each once: a category may be given by its id and by its name.
      const ids = new Set<bigint>();
      for (const text of from) {
        const { id } = yield* resolveCategory({ text });
        if (id === target) {
          const both = printable(`${text} and ${into}`);
          throw new AppError("invalid_request", `${both} are the same category.`);
        }
        ids.add(id);
      }
      const events: CategoryEvent[] = [];
      for (const id of ids) {
        const named = yield* categoryById(id);
        yield* planUpdate(change, sql`animal.category_id = ${id}`, { categoryId: target });
        if (named === undefined) continue;
        yield* dropCategory(id);
        events.push({ id, before: named.name });
      }
      const { updated } = yield* carryOut(change, by);
      if (updated === 0 && events.length === 0) yield* dropChange(change);
      else yield* describeChange(change, { from, into, updated }, events);
      return updated;
    });
  }

  /** Patient: a merge may change any number of animals. */
  async #changing<T>(action: string, work: (change: bigint, by: By) => Steps<T>): Promise<T> {
    return changing(this.#editing, action, work, { patient: true });
  }
}

function* refuseTaken(name: string, except?: bigint): Steps<void> {
  const holder = yield* categoryByName(name);
  if (holder === undefined || holder.id === except) return;
  throw new AppError(
    "invalid_request",
    `The category ${holder.id} has the name ${JSON.stringify(holder.name)}.`,
    { hint: "Merge the two with rehome categories merge." },
  );
}
