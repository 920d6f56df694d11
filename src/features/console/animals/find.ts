import { fold } from "../../../domain/names.ts";
import type { Pet } from "../../../domain/pet.ts";
import { petOfRow } from "../../../storage/pet-row.ts";
import { records, type RecordOf } from "../../../storage/records.ts";
import {
  joined,
  list,
  row,
  rows,
  sql,
  type Statement,
  type Steps,
} from "../../../storage/statement.ts";
import { pets } from "../../../storage/tables.ts";
import { fieldConditions, isAsciiName, plainMatch } from "../../animals/statements/find.ts";
import { type ExportedPet, exportedPet } from "../../import/catalogue.ts";
import type { AnimalQuery, FoundAnimals } from "../desk.ts";

/** Animals with a text in their name are counted up to here; nobody reads through more. */
export const countedMax = 1_000;
/** Rows that are looked at in one go. */
const batchRows = 5_000;

/** Finds animals, the newest first. `total` is the number of all animals. */
export function* findAnimals(query: AnimalQuery, total: number): Steps<FoundAnimals> {
  const conditions = conditionsOf(query);
  return query.text === ""
    ? yield* findByFields(query, conditions, total)
    : yield* findByText(query, conditions, total);
}

function* findByFields(
  { limit, before }: AnimalQuery,
  conditions: readonly Statement[],
  total: number,
): Steps<FoundAnimals> {
  const animals = (yield* newest(conditions, before, limit + 1)).map(petOfRow);
  const found = conditions.length === 0 ? total : yield* count(conditions);
  return { ...pageOf(animals, limit), found, isMore: false, total };
}

/** Finds animals among those with the ids `known`, which an index says have the text. */
export function* findAmong(
  query: AnimalQuery,
  known: readonly bigint[],
  total: number,
): Steps<FoundAnimals> {
  const { limit, before, text } = query;
  const own = isId(text) ? [BigInt(text)] : [];
  const ids = [...new Set([...known, ...own])];
  if (ids.length === 0) return { animals: [], more: false, found: 0, isMore: false, total };
  const named = sql`id IN ${list(ids)}`;
  const wanted = fold(text);
  const rowsFound = yield* newest([...conditionsOf(query), named], undefined, ids.length);
  // A name may have changed since the index was asked.
  const found = rowsFound.filter(({ id, name }) => fold(name).includes(wanted) || own.includes(id));
  const page = found.filter(({ id }) => before === undefined || id < before).slice(0, limit + 1);
  return { ...pageOf(page.map(petOfRow), limit), found: found.length, isMore: false, total };
}

const isId = (text: string) => /^\d{1,18}$/.test(text);

/** Walks over the names that may have the text. Reads whole rows for the page only. */
function* findByText(
  query: AnimalQuery,
  conditions: readonly Statement[],
  total: number,
): Steps<FoundAnimals> {
  const { limit, before, text } = query;
  const wanted = fold(text);
  const all = [...conditions, mayHave(text, wanted)];
  const page: bigint[] = [];
  let found = 0;
  let from: bigint | undefined;
  while (found <= countedMax || page.length <= limit) {
    const batch = yield* names(all, from);
    for (const { id, name } of batch) {
      if (!fold(name).includes(wanted) && String(id) !== text) continue;
      found += 1;
      if ((before === undefined || id < before) && page.length <= limit) page.push(id);
    }
    from = batch.at(-1)?.id;
    if (batch.length < batchRows) break;
  }
  const animals =
    page.length === 0 ? [] : yield* newest([sql`id IN ${list(page)}`], undefined, page.length);
  const isMore = found > countedMax;
  return {
    ...pageOf(animals.map(petOfRow), limit),
    found: Math.min(found, countedMax),
    isMore,
    total,
  };
}

function* names(
  conditions: readonly Statement[],
  before: bigint | undefined,
): Steps<{ readonly id: bigint; readonly name: string }[]> {
  const all = before === undefined ? conditions : [...conditions, sql`id < ${before}`];
  return yield* rows(
    sql<{ id: bigint; name: string }>`SELECT id, name FROM ${pets} ${where(all)}
      ORDER BY id DESC LIMIT ${batchRows}`,
  );
}

/**
 * The next animals of an export that fit the query, the oldest first, and where the next ones
 * begin. `categories` are the names by id.
 */
export function* exportAnimals(
  { text, ...query }: AnimalQuery,
  after: bigint | undefined,
  categories: ReadonlyMap<bigint, string>,
): Steps<{ readonly animals: ExportedPet[]; readonly last: bigint | undefined }> {
  const wanted = fold(text);
  const conditions = text === "" ? [] : [mayHave(text, wanted)];
  if (after !== undefined) conditions.push(sql`id > ${after}`);
  const all = where([...conditionsOf({ text, ...query }), ...conditions]);
  const found = yield* records(pets, sql`${all} ORDER BY id LIMIT ${query.limit}`);
  const animals = found
    .filter(({ id, name }) => fold(name).includes(wanted) || String(id) === text)
    .map((row) => exportedPet({ ...row, category: categories.get(row.categoryId) ?? null }));
  return { animals, last: found.length < query.limit ? undefined : found.at(-1)?.id };
}

function pageOf(animals: readonly Pet[], limit: number) {
  return { animals: animals.slice(0, limit), more: animals.length > limit };
}

function conditionsOf({ categoryId, status }: AnimalQuery): Statement[] {
  return fieldConditions({ categoryId, status: status === "none" ? null : status });
}

/** What the database can tell of a name. One with letters beyond ASCII is looked at here. */
function mayHave(text: string, wanted: string): Statement {
  const id = isId(text) ? sql` OR id = ${BigInt(text)}` : sql``;
  return sql`(${plainMatch(wanted)} OR NOT ${isAsciiName}${id})`;
}

function* newest(
  conditions: readonly Statement[],
  before: bigint | undefined,
  limit: number,
): Steps<RecordOf<typeof pets>[]> {
  const all = before === undefined ? conditions : [...conditions, sql`id < ${before}`];
  return yield* records(pets, sql`${where(all)} ORDER BY id DESC LIMIT ${limit}`);
}

function* count(conditions: readonly Statement[]): Steps<number> {
  const counting = sql<{ animals: bigint }>`SELECT CAST(count(*) AS bigint) AS animals
    FROM ${pets} ${where(conditions)}`;
  return Number((yield* row(counting))?.animals ?? 0);
}

function where(conditions: readonly Statement[]): Statement {
  return conditions.length === 0 ? sql`` : sql`WHERE ${joined(conditions, " AND ")}`;
}
