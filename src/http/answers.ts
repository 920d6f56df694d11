import { nextPageQuery, type PageQuery } from "../domain/page.ts";
import { petJson, type Pet } from "../domain/pet.ts";
import type { Services } from "../service/services.ts";

/**
 * An answer as it is sent: its body, and for a page the query of the page behind it, if there is
 * one.
 */
export interface PetAnswer {
  /** JSON in UTF-8. Everybody who is sent it shares its bytes. */
  readonly body: Blob;
  readonly next: string | undefined;
}

/** Answers kept in memory, by count and by bytes: enough for the hot ones, too little to matter. */
const answersMax = 20_000;
const bytesMax = 8 * 1024 * 1024;

/** Pets: a JSON array of Pet. */
export function petsJson(pets: readonly Pet[]): string {
  return `[${pets.map((pet) => petJson(pet)).join(",")}]`;
}

type PetSource = Pick<Services, "pets" | "petsVersion">;

/** Renders animals and pages of them, and keeps what it rendered until an animal changes. */
export class PetAnswers {
  readonly #source: PetSource;
  readonly #kept = new Map<string, PetAnswer>();
  #bytes = 0;
  #version = -1;

  constructor(source: PetSource) {
    this.#source = source;
  }

  /** The page that `query` asks for; at once when it is kept. */
  page(query: PageQuery): PetAnswer | Promise<PetAnswer> {
    const id = `${query.limit} ${query.status ?? ""} ${query.after ?? ""}`;
    return this.#find(id) ?? this.#renderPage(query, id);
  }

  /** The animal with this id; at once when it is kept, and undefined when there is none. */
  pet(id: bigint): PetAnswer | Promise<PetAnswer | undefined> {
    return this.#find(`${id}`) ?? this.#renderPet(id);
  }

  async #renderPage(query: PageQuery, id: string): Promise<PetAnswer> {
    const version = this.#version;
    // One more than asked for tells whether there is a next page.
    const found = await this.#source.pets.page({ ...query, limit: query.limit + 1 });
    const shown = found.slice(0, query.limit);
    const last = shown.at(-1);
    const hasNext = found.length > query.limit && last !== undefined;
    const next = hasNext ? nextPageQuery(query, last.id) : undefined;
    return this.#keep(id, { body: new Blob([petsJson(shown)]), next }, version);
  }

  async #renderPet(id: bigint): Promise<PetAnswer | undefined> {
    const version = this.#version;
    const pet = await this.#source.pets.byId(id);
    if (pet === undefined) return undefined;
    return this.#keep(`${id}`, { body: new Blob([petJson(pet)]), next: undefined }, version);
  }

  #find(id: string): PetAnswer | undefined {
    const version = this.#source.petsVersion();
    if (version !== this.#version) this.#clear(version);
    return this.#kept.get(id);
  }

  #keep(id: string, answer: PetAnswer, version: number): PetAnswer {
    // What was read before a change must not be kept after it.
    if (this.#source.petsVersion() !== version) return answer;
    const isFull = this.#kept.size >= answersMax || this.#bytes > bytesMax;
    if (isFull) this.#clear(version);
    this.#kept.set(id, answer);
    this.#bytes += answer.body.size;
    return answer;
  }

  #clear(version: number): void {
    this.#version = version;
    this.#kept.clear();
    this.#bytes = 0;
  }
}
