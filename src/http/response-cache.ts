import { nextPageQuery, type PageQuery } from "../domain/page.ts";
import { petJson, petsJson } from "../domain/pet.ts";
import type { Services } from "../service/services.ts";
import { type BlockOptions, PetBlocks } from "./blocks.ts";

/** A rendered response: its body, and for a page the query of the next page, if any. */
export interface PetAnswer {
  /** JSON in UTF-8. All responses share its bytes. */
  readonly body: Blob;
  readonly next: string | undefined;
}

/** The maximum number and size of cached responses: enough for the hot ones, beside blocks.ts. */
const answersMax = 20_000;
const bytesMax = 2 * 1024 * 1024;

type PetSource = Pick<Services, "pets" | "store">;
type Versions = ReturnType<Services["store"]["versions"]>;

/** Answers by what was asked, and their size. */
class Kept {
  readonly #answers = new Map<string, PetAnswer>();
  bytes = 0;

  get size(): number {
    return this.#answers.size;
  }

  get(id: string): PetAnswer | undefined {
    return this.#answers.get(id);
  }

  set(id: string, answer: PetAnswer): void {
    this.#answers.set(id, answer);
    this.bytes += answer.body.size;
  }

  clear(): void {
    this.#answers.clear();
    this.bytes = 0;
  }
}

/**
 * Renders animals and pages, and caches what is requested twice until a change may have touched it.
 * Ids ascend, so a new animal changes only the last pages.
 */
export class PetAnswers {
  readonly #source: PetSource;
  readonly #lasting = new Kept();
  readonly #lastPages = new Kept();
  /** What was asked for once at least. */
  readonly #asked = new Set<string>();
  /** Pages being read since the last change: a crowd that asks for one shares its bytes. */
  readonly #rendering = new Map<string, Promise<PetAnswer>>();
  readonly #blocks: PetBlocks;
  #versions: Versions = { keys: -1, pets: -1, edits: -1 };

  constructor(source: PetSource, blocks?: BlockOptions) {
    this.#source = source;
    this.#blocks = new PetBlocks((query) => source.pets.page(query), blocks);
  }

  /** The page of `query`, at once if it is cached. */
  page(query: PageQuery): PetAnswer | Promise<PetAnswer> {
    const id = `${query.limit} ${query.status ?? ""} ${query.after ?? ""}`;
    return (
      this.#find(id) ??
      this.#findInBlocks(query, id) ??
      this.#rendering.get(id) ??
      this.#startPage(query, id)
    );
  }

  /** The animal with this id, at once if it is cached; undefined if there is none. */
  pet(id: bigint): PetAnswer | Promise<PetAnswer | undefined> {
    return this.#find(`${id}`) ?? this.#renderPet(id);
  }

  #findInBlocks(query: PageQuery, id: string): PetAnswer | undefined {
    const found = this.#blocks.find(query);
    if (found === undefined) return undefined;
    const answer = { body: new Blob([...found.parts]), next: nextPageQuery(query, found.lastId) };
    return this.#keep(this.#lasting, id, answer, this.#versions);
  }

  #startPage(query: PageQuery, id: string): Promise<PetAnswer> {
    const rendering = this.#renderPage(query, id);
    this.#rendering.set(id, rendering);
    const end = () => this.#rendering.delete(id);
    rendering.then(end, end);
    return rendering;
  }

  async #renderPage(query: PageQuery, id: string): Promise<PetAnswer> {
    const versions = this.#versions;
    // One more than asked for tells whether there is a next page.
    const found = await this.#source.pets.page({ ...query, limit: query.limit + 1 });
    const shown = found.slice(0, query.limit);
    const last = shown.at(-1);
    const hasNext = found.length > query.limit && last !== undefined;
    const next = hasNext ? nextPageQuery(query, last.id) : undefined;
    const answer = { body: new Blob([petsJson(shown)]), next };
    const isCurrent = () => versions.edits === this.#versions.edits;
    // The page does not wait for what is learned beside it, nor fail with it.
    this.#blocks.learn(query, isCurrent).catch(() => undefined);
    return this.#keep(hasNext ? this.#lasting : this.#lastPages, id, answer, versions);
  }

  async #renderPet(id: bigint): Promise<PetAnswer | undefined> {
    const versions = this.#versions;
    const pet = await this.#source.pets.byId(id);
    if (pet === undefined) return undefined;
    const answer = { body: new Blob([petJson(pet)]), next: undefined };
    return this.#keep(this.#lasting, `${id}`, answer, versions);
  }

  #find(id: string): PetAnswer | undefined {
    this.#forget();
    return this.#lasting.get(id) ?? this.#lastPages.get(id);
  }

  /** Drops what changes may have touched since the last call. */
  #forget(): void {
    const versions = this.#source.store.versions();
    if (versions === this.#versions) return;
    const hasAdded = versions.pets !== this.#versions.pets;
    const hasEdited = versions.edits !== this.#versions.edits;
    if (hasAdded) this.#lastPages.clear();
    if (hasEdited) {
      this.#lasting.clear();
      this.#blocks.clear();
    }
    if (hasAdded || hasEdited) this.#rendering.clear();
    this.#versions = versions;
  }

  /** `versions` are those of before the answer was read. */
  #keep(kept: Kept, id: string, answer: PetAnswer, versions: Versions): PetAnswer {
    if (!this.#isAskedAgain(id)) return answer;
    this.#forget();
    // What was read before a change must not be kept after it.
    const isOutdated =
      versions.edits !== this.#versions.edits ||
      (kept === this.#lastPages && versions.pets !== this.#versions.pets);
    if (isOutdated) return answer;
    this.#makeRoom();
    kept.set(id, answer);
    return answer;
  }

  /** To keep what nobody asks for again costs more than to render it. */
  #isAskedAgain(id: string): boolean {
    if (this.#asked.has(id)) return true;
    if (this.#asked.size >= answersMax) this.#asked.clear();
    this.#asked.add(id);
    return false;
  }

  #makeRoom(): void {
    const [lasting, last] = [this.#lasting, this.#lastPages];
    if (lasting.size + last.size < answersMax && lasting.bytes + last.bytes <= bytesMax) return;
    lasting.clear();
    last.clear();
  }
}
