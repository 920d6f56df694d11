/** Which animal each record of a list means: by its ids, or by its name if nothing else tells. */
import { and, eq, gt, inArray, isNull, sql, type SQL } from "drizzle-orm";
import { int64Min } from "../../../domain/int64.ts";
import type { Tx } from "../../../storage/database.ts";
import { categoryKey } from "../../animals/categories.ts";
import { batches, eventFields } from "../../animals/changes.ts";
import { type Message, message } from "../messages.ts";
import { distance } from "../understand/evidence.ts";
import type { Candidate, FromLine, Rejection, SoundRecord } from "../understand/record.ts";
import { idPrefix } from "../understand/record.ts";
import { type ImportCategories, wordFor } from "./categories.ts";
import { isAmong, type Match, namelessEntries, type StoreAnimal } from "./said.ts";

const pageSize = 10_000;

export interface PlannedList {
  readonly source: string;
  /** True for an export of this catalogue, which people changed: it is the desk itself. */
  readonly isDesk: boolean;
  /** True where names identify animals without ids. */
  readonly isWhole: boolean;
}

interface Example {
  readonly line: number;
  readonly example: string;
}

export class Matching {
  added: Candidate[] = [];
  readonly rejections: Rejection[] = [];
  /** Animals of which nothing tells the records apart, which say what is here. */
  unchanged = 0;
  /** New animals whose name and category an animal here has, that no id identifies. */
  alike: SoundRecord[] = [];
  /** Records that may be the one animal here of their name and category. */
  readonly lookalikes: { readonly record: SoundRecord; readonly animal: StoreAnimal }[] = [];
  /** Animals that a record means, or may mean. */
  readonly meant = new Set<bigint>();
  /** What a whole list calls animals without ids, by the animal. */
  #nameless: ReadonlyMap<bigint, string> = new Map();

  constructor(
    private readonly tx: Tx,
    private readonly list: PlannedList,
    private readonly categories: ImportCategories,
    private readonly newIds: boolean,
  ) {}

  /** Records that have an id, with the animal that has it. */
  async byIds(records: readonly SoundRecord[]): Promise<readonly Match[]> {
    const find = await animalsOf(this.tx, records, this.newIds);
    return records.flatMap((record) => {
      const animal = find(record);
      const isMeant = animal !== undefined && this.meant.has(animal.id);
      if (animal !== undefined && !isMeant) return this.#match(record, animal, record.externalId);
      const isNew = record.id === undefined || this.newIds;
      if (isNew && !isMeant) this.#add(record);
      // What is gone, and not here under this id, leaves nothing to withdraw. It is no fault.
      else if (record.kind === "pet") {
        const problem = isMeant ? message("animalTwice") : message("idUnknown", String(record.id));
        this.rejections.push(rejectionOf(record, "id", problem));
      }
      return [];
    });
  }

  #match(record: SoundRecord, animal: StoreAnimal, entry: string | undefined): Match {
    this.meant.add(animal.id);
    return { record, animal, entry };
  }

  #add(record: SoundRecord): void {
    if (record.kind === "pet") this.added.push(record);
  }

  /**
   * Records without any id. In a whole list a name and category identify an animal where both occur
   * once, in the list and among the animals without ids; what occurs more than once is not matched.
   */
  async byNames(records: readonly SoundRecord[]): Promise<readonly Match[]> {
    const { tx, list } = this;
    const { pets } = tx.t;
    if (list.isWhole && !list.isDesk) this.#nameless = await namelessEntries(tx, list.source);
    const free: StoreAnimal[] = [];
    for (const ids of batches([...this.#nameless.keys()])) {
      const own = await animalsWhere(tx, ({ id }) => isAmong(tx, id, ids));
      free.push(...own.filter(({ id }) => !this.meant.has(id)));
    }
    const called = Map.groupBy(free, ({ id }) => this.#nameless.get(id));
    const isNobodys = inArray(pets.source, list.isWhole ? ["", list.source] : [""]);
    const others = await this.#calledLike(records, and(isNobodys, isNull(pets.externalId)));
    const unknown = others.filter(({ id }) => !this.#nameless.has(id));
    const here = Map.groupBy(unknown, animalKey);
    return [...Map.groupBy(records, this.#keyOf)].flatMap(([key, all]) => {
      const [record] = all;
      const entry = record && all.length === 1 ? namelessEntryOf(record) : "";
      const animals = called.get(entry) ?? here.get(key) ?? [];
      const [animal] = animals;
      if (record === undefined || animal === undefined || !list.isWhole) {
        for (const each of all) this.#add(each);
        if (animal !== undefined) this.alike.push(...all);
        return [];
      }
      for (const each of animals) this.meant.add(each.id);
      if (all.length === 1 && animals.length === 1) return { record, animal, entry };
      if (isSameState(all, animals)) this.unchanged += animals.length;
      else for (const each of all) this.#refuseAlike(each, all.length, animals.length);
      return [];
    });
  }

  #refuseAlike(record: SoundRecord, records: number, animals: number): void {
    const name = JSON.stringify(record.name ?? "Unnamed");
    const problem = message("sameName", name, String(records), String(animals));
    this.rejections.push(rejectionOf(record, "name", problem));
  }

  /** Takes new animals for those here that are called like them, where `isSame` says so. */
  async recognise(isSame: (line: number) => boolean): Promise<readonly Match[]> {
    const others = await this.#calledLike(this.added, sql`true`);
    if (others.length === 0) return [];
    const here = Map.groupBy(others, animalKey);
    this.alike = [];
    const matches = [...Map.groupBy(this.added, this.#keyOf)].flatMap(([key, all]) => {
      const isLike = (animal: StoreAnimal) => all.some((each) => mayBeSame(each, animal));
      const animals = here.get(key)?.filter(isLike) ?? [];
      const [record] = all;
      const [animal] = animals;
      if (record === undefined || animal === undefined) return [];
      if (all.length > 1 || animals.length > 1) {
        this.alike.push(...all);
        return [];
      }
      this.lookalikes.push({ record, animal });
      const nameless = this.list.isWhole ? namelessEntryOf(record) : undefined;
      const match = () => this.#match(record, animal, record.externalId ?? nameless);
      return isSame(record.line) ? match() : [];
    });
    const same = new Set(matches.map(({ record }) => record));
    this.added = this.added.filter((each) => !same.has(each));
    return matches;
  }

  /** Animals that records are called like, but those that a record means. */
  async #calledLike(records: readonly SoundRecord[], where: SQL | undefined) {
    let names: ReadonlySet<string> | undefined;
    const found: StoreAnimal[] = [];
    for await (const page of records.length === 0 ? [] : pagesOf(this.tx, where)) {
      // A store without animals needs no names of a large list.
      names ??= new Set(page.length > 0 ? records.map(({ name = "" }) => categoryKey(name)) : []);
      const isLike = ({ id, name }: StoreAnimal) =>
        names?.has(categoryKey(name)) && !this.meant.has(id);
      found.push(...page.filter(isLike));
    }
    return found;
  }

  /** How many animals the source has, and those that its whole list does not mean. */
  async absent(): Promise<{ readonly total: number; readonly unlisted: readonly Match[] }> {
    let total = 0;
    const unlisted: Match[] = [];
    for await (const page of pagesOf(this.tx, eq(this.tx.t.pets.source, this.list.source))) {
      total += page.length;
      for (const animal of page.filter(({ id }) => !this.meant.has(id))) {
        const { id, externalId, name, categoryId } = animal;
        const called = () => namelessKey(name, this.categories.nameOf(categoryId));
        unlisted.push({ animal, entry: externalId ?? this.#nameless.get(id) ?? called() });
      }
    }
    return { total, unlisted };
  }

  readonly #keyOf = ({ name = "", category }: SoundRecord): string => {
    const found = category && this.categories.resolve(category);
    return nameKey(
      name,
      typeof found === "bigint" ? String(found) : `new ${categoryKey(category?.name ?? "")}`,
    );
  };
}

const nameKey = (name: string, category: string): string => `${categoryKey(name)}\0${category}`;
const animalKey = ({ name, categoryId }: StoreAnimal) => nameKey(name, String(categoryId));

/** What an animal without an id is called in the entries of its list. */
export const namelessKey = (name: string, category: string): string =>
  JSON.stringify([categoryKey(name), categoryKey(category)]);

export const namelessEntryOf = ({ name = "", category }: SoundRecord): string =>
  namelessKey(name, category === undefined ? "" : wordFor(category));

/** False where ids or sources say that they are two: equal ids are one animal's in one source. */
function mayBeSame({ externalId, source }: SoundRecord, animal: StoreAnimal): boolean {
  if (source !== "" && animal.source !== "" && source !== animal.source) return false;
  if (externalId === undefined || animal.externalId === null) return true;
  const plain = (id: string, of: string) => (of === "" ? id : id.slice(idPrefix(of).length));
  return (
    source !== animal.source &&
    plain(externalId, source) === plain(animal.externalId, animal.source)
  );
}

/** True if it makes no difference which of the records is which of the animals. */
function isSameState(records: readonly SoundRecord[], animals: readonly StoreAnimal[]): boolean {
  const said = records.map((each) => (each.kind === "pet" ? (each.status ?? "") : "gone"));
  const known = animals.map(({ status }) => status ?? "");
  return said.toSorted().join() === known.toSorted().join();
}

/** A sound record that the store does not take, with all that an import would store of it. */
export function rejectionOf(sound: SoundRecord, field: string, problem: Message): Rejection {
  const { line, id, name, category, externalId, source } = sound;
  const said = sound.kind === "pet" ? sound.status : undefined;
  const status = sound.kind === "gone" ? "gone" : (said ?? null);
  const record = { id, name, category: category?.name ?? category?.id, status, externalId };
  return { kind: "reject", line, source, externalId, field, problem, record, status: said };
}

/**
 * Ranks of the records of one animal from the same moment. Who is there in a list of stays came
 * again; who was found, lost or fostered is told of by any other record; else what is furthest
 * from adoption holds.
 */
function rankOf(record: SoundRecord): number {
  if (record.kind === "pet" && record.isStay === true) return stayRank;
  if (record.kind === "gone") return record.isPassing === true ? -1 : distance("gone");
  return distance(record.status);
}

const stayRank = 10;

/** True if a record replaces another one of its animal: the last one does if both say the same. */
function isNewer(a: SoundRecord, b: SoundRecord): boolean {
  const byTime = (a.version ?? 0) - (b.version ?? 0);
  return byTime === 0 ? rankOf(a) >= rankOf(b) : byTime > 0;
}

/** True for records of one moment of which nothing but caution decides. */
function disagree(a: SoundRecord, b: SoundRecord): boolean {
  const ranks = [rankOf(a), rankOf(b)];
  const isClear = ranks.includes(stayRank) || ranks.includes(-1) || ranks[0] === ranks[1];
  return !isClear && (a.version ?? 0) === (b.version ?? 0);
}

/** The newest record of each animal, as far as ids tell the animals, and all without any id. */
export function newestOf(records: readonly SoundRecord[], newIds: boolean) {
  const animals = Map.groupBy(records, (each) => keyOf(each, newIds));
  const anonymous = animals.get(undefined) ?? [];
  animals.delete(undefined);
  const identified: SoundRecord[] = [];
  /** Animals whose records have different names, or say different things of one moment. */
  const renamed: Example[] = [];
  const undecided: Example[] = [];
  /** Older records of animals that are for adoption. */
  let superseded = 0;
  for (const all of animals.values()) {
    const newest = all.reduce((known, each) => (isNewer(each, known) ? each : known));
    identified.push(newest);
    if (all.length === 1) continue;
    const others = all.filter((each) => each !== newest);
    superseded += others.filter(({ kind }) => kind === "pet").length;
    const { id, externalId } = newest;
    const line = all[0]?.line ?? newest.line;
    const example = externalId ?? String(id);
    if (others.some((each) => disagree(each, newest))) undecided.push({ line, example });
    const isThere = all.some(({ kind }) => kind === "pet");
    const names = [...new Set(all.flatMap(({ name }) => name ?? []))].toSorted();
    if (names.length < 2 || !isThere || externalId === undefined) continue;
    const shown = names.map((name) => JSON.stringify(name)).join(" and ");
    renamed.push({ line, example: `${externalId} is ${shown}` });
  }
  return { identified, anonymous, superseded, renamed, undecided };
}

function keyOf({ id, externalId, source }: SoundRecord, newIds: boolean): string | undefined {
  if (externalId !== undefined) return originKey(source, externalId);
  return id === undefined || newIds ? undefined : String(id);
}

/** An id elsewhere with its source, which most of them begin with. */
const originKey = (source: string, id: string): string =>
  id.startsWith(idPrefix(source)) ? id : `${source}\0${id}`;

/** Finds the animal that the ids of each of these records mean. */
export async function animalsOf(
  tx: Tx,
  records: readonly FromLine[],
  newIds: boolean,
): Promise<(record: FromLine) => StoreAnimal | undefined> {
  const ids = newIds ? [] : records.flatMap(({ id }) => id ?? []);
  const named = await animalsWhere(tx, ({ id }) => isAmong(tx, id, ids));
  const byId = new Map(named.map((each) => [each.id, each]));
  const externalIds = records.flatMap(({ externalId }) => externalId ?? []);
  const sources = [...new Set(records.map(({ source }) => source))];
  const listed = await animalsWhere(tx, ({ source, externalId }) =>
    and(inArray(source, sources), isAmong(tx, externalId, externalIds)),
  );
  const byOrigin = new Map(
    listed.map((each) => [originKey(each.source, each.externalId ?? ""), each]),
  );
  return ({ id, externalId, source }) => {
    const named = id === undefined ? undefined : byId.get(id);
    const isSame = externalId === undefined || (named?.externalId ?? externalId) === externalId;
    if (named !== undefined && isSame) return named;
    return externalId === undefined ? undefined : byOrigin.get(originKey(source, externalId));
  };
}

type PetTable = Tx["t"]["pets"] | Tx["t"]["removedPets"];

/** Animals, those that are here behind those that were removed. */
async function animalsWhere(tx: Tx, where: (table: PetTable) => SQL | undefined) {
  const { removedPets, pets } = tx.t;
  const removed = await rowsOf(tx, removedPets, where(removedPets));
  return [...removed, ...(await rowsOf(tx, pets, where(pets)))];
}

/** Drizzle's rows would take longer than SQLite does. */
async function rowsOf(tx: Tx, table: PetTable, where: SQL | undefined): Promise<StoreAnimal[]> {
  const isRemoved = table === tx.t.removedPets;
  const fields = ["id", "createdIn", ...eventFields] as const;
  const columns = fields.map((field) => sql`${table[field]} AS ${sql.identifier(field)}`);
  const rows = await tx.rows<Omit<StoreAnimal, "isRemoved">>(
    sql`SELECT ${sql.join(columns, sql`, `)} FROM ${table} WHERE ${where}`,
  );
  return rows.map((row) => Object.assign(row, { isRemoved }));
}

/** The animals that are here, in the order of their ids. */
async function* pagesOf(tx: Tx, where: SQL | undefined): AsyncGenerator<readonly StoreAnimal[]> {
  const { pets } = tx.t;
  for (let last: bigint | undefined = int64Min; last !== undefined;) {
    const next = sql`${and(where, gt(pets.id, last))} ORDER BY id LIMIT ${pageSize}`;
    const page: readonly StoreAnimal[] = await rowsOf(tx, pets, next);
    yield page;
    last = page.at(-1)?.id;
  }
}
