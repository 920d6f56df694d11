import { nextPageQuery, type PageQuery } from "../domain/page.ts";
import { petJson, petsJson } from "../domain/pet.ts";
import type { Services } from "../service/services.ts";

export interface Rendered {
  /** JSON in UTF-8. All responses share its bytes. */
  readonly body: Blob;
  /** The query of the next page; null on the last page, and undefined for an animal. */
  readonly next?: string | null;
}

const entriesMax = 20_000;
const bytesMax = 4 * 1024 * 1024;

/**
 * Renders animals and pages, and keeps them until a change may have touched them. Ids ascend, so a
 * new animal changes the last pages only.
 */
export class ResponseCache {
  readonly #source: Pick<Services, "pets" | "store">;
  /** A crowd that asks for a page while it is read shares its bytes. */
  readonly #rendered = new Map<string, Rendered | Promise<Rendered | undefined>>();
  /** What a new animal may change: the last pages, and what is being read. */
  readonly #atEnd = new Set<string>();
  #bytes = 0;
  #versions: ReturnType<Services["store"]["versions"]> = { keys: -1, pets: -1, edits: -1 };

  constructor(source: Pick<Services, "pets" | "store">) {
    this.#source = source;
  }

  /** The page of `query`, at once if it is cached. */
  page(query: PageQuery): Rendered | Promise<Rendered> {
    const id = `${query.limit} ${query.status ?? ""} ${query.after ?? ""}`;
    return this.#find(id, () => this.#readPage(query)) as Rendered | Promise<Rendered>;
  }

  pet(id: bigint): Rendered | Promise<Rendered | undefined> {
    return this.#find(`${id}`, async () => {
      const pet = await this.#source.pets.byId(id);
      return pet && { body: new Blob([petJson(pet)]) };
    });
  }

  async #readPage(query: PageQuery): Promise<Rendered> {
    // One more than asked for tells whether there is a next page.
    const found = await this.#source.pets.page({ ...query, limit: query.limit + 1 });
    const shown = found.slice(0, query.limit);
    const last = shown.at(-1);
    const hasNext = found.length > query.limit && last !== undefined;
    const next = hasNext ? nextPageQuery(query, last.id) : null;
    return { body: new Blob([petsJson(shown)]), next };
  }

  #find(id: string, read: () => Promise<Rendered | undefined>) {
    this.#forget();
    return this.#rendered.get(id) ?? this.#render(id, read);
  }

  #render(id: string, read: () => Promise<Rendered | undefined>): Promise<Rendered | undefined> {
    const rendering = read();
    this.#rendered.set(id, rendering);
    this.#atEnd.add(id);
    const settle = (rendered?: Rendered) => {
      this.#forget();
      // What was read before a change must not be kept after it.
      if (this.#rendered.get(id) === rendering) this.#keep(id, rendered);
    };
    rendering.then(settle, () => settle());
    return rendering;
  }

  #keep(id: string, rendered: Rendered | undefined): void {
    if (this.#rendered.size > entriesMax || this.#bytes > bytesMax) this.#clear();
    if (rendered?.next !== null) this.#atEnd.delete(id);
    if (rendered === undefined) {
      this.#rendered.delete(id);
      return;
    }
    this.#rendered.set(id, rendered);
    this.#bytes += rendered.body.size;
  }

  /** Drops what changes may have touched since the last call. */
  #forget(): void {
    const versions = this.#source.store.versions();
    if (versions === this.#versions) return;
    if (versions.edits !== this.#versions.edits) this.#clear();
    else if (versions.pets !== this.#versions.pets) this.#dropEnd();
    this.#versions = versions;
  }

  #dropEnd(): void {
    for (const id of this.#atEnd) {
      const rendered = this.#rendered.get(id);
      if (rendered !== undefined && !(rendered instanceof Promise)) {
        this.#bytes -= rendered.body.size;
      }
      this.#rendered.delete(id);
    }
    this.#atEnd.clear();
  }

  #clear(): void {
    this.#rendered.clear();
    this.#atEnd.clear();
    this.#bytes = 0;
  }
}
