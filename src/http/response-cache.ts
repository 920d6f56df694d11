import { nextPageQuery, type PageQuery, petJson, petsJson } from "../domain/pet.ts";
import type { Services } from "../service/services.ts";

export interface Rendered {
  /** JSON in UTF-8. All responses share its bytes. */
  readonly body: Blob;
  /** The query of the next page; null on the last page, and undefined for an animal. */
  readonly next?: string | null;
}

/** What the cache may hold. When it is full, it begins anew. */
export interface CacheBounds {
  readonly entries: number;
  readonly bytes: number;
}

const serviceBounds: CacheBounds = { entries: 20_000, bytes: 4 * 1024 * 1024 };

/**
 * Renders animals and pages, and keeps them until a change may have touched them. Ids ascend, so a
 * new animal does not change a page that another one follows.
 */
export class ResponseCache {
  /** Pages with a next page: an edit ends them. */
  readonly #followed = new Map<string, Rendered>();
  /** All others, and what is being read, which a crowd shares: any change ends them. */
  readonly #others = new Map<string, Rendered | Promise<Rendered | undefined>>();
  /** No less than the bytes of all bodies. */
  #bytes = 0;
  #edits = -1;
  #pets = -1;

  constructor(
    private readonly source: Pick<Services, "pets" | "store">,
    private readonly bounds = serviceBounds,
  ) {}

  /** The page of `query`, at once if it is cached. */
  page(query: PageQuery): Rendered | Promise<Rendered> {
    const id = `${query.limit} ${query.status ?? ""} ${query.after ?? ""}`;
    return this.#find(id, () => this.#readPage(query)) as Rendered | Promise<Rendered>;
  }

  pet(id: bigint): Rendered | Promise<Rendered | undefined> {
    return this.#find(`${id}`, async () => {
      const pet = await this.source.pets.byId(id);
      return pet && { body: new Blob([petJson(pet)]) };
    });
  }

  async #readPage(query: PageQuery): Promise<Rendered> {
    // One more than asked for tells whether there is a next page.
    const found = await this.source.pets.page({ ...query, limit: query.limit + 1 });
    const shown = found.slice(0, query.limit);
    const last = shown.at(-1);
    const hasNext = found.length > query.limit && last !== undefined;
    const next = hasNext ? nextPageQuery(query, last.id) : null;
    return { body: new Blob([petsJson(shown)]), next };
  }

  #find(id: string, read: () => Promise<Rendered | undefined>) {
    this.#dropChanged();
    return this.#followed.get(id) ?? this.#others.get(id) ?? this.#render(id, read);
  }

  #render(id: string, read: () => Promise<Rendered | undefined>): Promise<Rendered | undefined> {
    const rendering = read();
    this.#others.set(id, rendering);
    const settle = (rendered?: Rendered) => {
      this.#dropChanged();
      // What was read before a change must not be kept after it.
      if (this.#others.get(id) !== rendering) return;
      this.#others.delete(id);
      if (rendered !== undefined) this.#keep(id, rendered);
    };
    rendering.then(settle, () => settle());
    return rendering;
  }

  #keep(id: string, rendered: Rendered): void {
    const { size } = rendered.body;
    const { bytes, entries } = this.bounds;
    const isFull = this.#followed.size + this.#others.size >= entries || this.#bytes + size > bytes;
    if (isFull) this.#clear();
    if (size > bytes) return;
    this.#bytes += size;
    if (typeof rendered.next === "string") this.#followed.set(id, rendered);
    else this.#others.set(id, rendered);
  }

  /** Drops what changes may have touched since the last call. */
  #dropChanged(): void {
    const { edits, pets } = this.source.store.versions();
    if (edits !== this.#edits) this.#clear();
    else if (pets !== this.#pets) this.#dropOthers();
    this.#edits = edits;
    this.#pets = pets;
  }

  #dropOthers(): void {
    for (const each of this.#others.values()) {
      if (!(each instanceof Promise)) this.#bytes -= each.body.size;
    }
    this.#others.clear();
  }

  #clear(): void {
    this.#followed.clear();
    this.#others.clear();
    this.#bytes = 0;
  }
}
