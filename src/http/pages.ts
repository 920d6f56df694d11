import { nextPageQuery, type PageQuery } from "../domain/page.ts";
import type { Services } from "../service/services.ts";
import { petsJson } from "./json.ts";

/** One answer of the list: its body, and the query of the page behind it if there is one. */
export interface RenderedPage {
  readonly body: string;
  readonly next: string | undefined;
}

/** Pages kept in memory, by count and by characters: enough for the hot ones, too little to matter. */
const pagesMax = 1_024;
const charactersMax = 8 * 1024 * 1024;

/** Renders pages of the list, and keeps them until an animal changes. */
export class PetPages {
  readonly #services: Pick<Services, "pets" | "petsVersion">;
  readonly #pages = new Map<string, RenderedPage>();
  #characters = 0;
  #version = -1;

  constructor(services: Pick<Services, "pets" | "petsVersion">) {
    this.#services = services;
  }

  /** The page that `query` asks for; at once when it is kept. */
  list(query: PageQuery): RenderedPage | Promise<RenderedPage> {
    const version = this.#services.petsVersion();
    if (version !== this.#version) this.#clear(version);
    const id = `${query.limit} ${query.status ?? ""} ${query.after ?? ""}`;
    const kept = this.#pages.get(id);
    return kept ?? this.#render(query, id, version);
  }

  async #render(query: PageQuery, id: string, version: number): Promise<RenderedPage> {
    // One more than asked for tells whether there is a next page.
    const found = await this.#services.pets.page({ ...query, limit: query.limit + 1 });
    const shown = found.slice(0, query.limit);
    const last = shown.at(-1);
    const hasNext = found.length > query.limit && last !== undefined;
    const page = {
      body: petsJson(shown),
      next: hasNext ? nextPageQuery(query, last.id) : undefined,
    };
    // A page that was read before a change must not be kept after it.
    if (this.#services.petsVersion() === version) this.#keep(id, page);
    return page;
  }

  #keep(id: string, page: RenderedPage): void {
    if (this.#pages.size >= pagesMax || this.#characters > charactersMax)
      this.#clear(this.#version);
    this.#pages.set(id, page);
    this.#characters += page.body.length;
  }

  #clear(version: number): void {
    this.#version = version;
    this.#pages.clear();
    this.#characters = 0;
  }
}
