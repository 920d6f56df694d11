/** Keeps what a server acknowledged, and holds the store to it. */
import { expect } from "bun:test";
import { callerOf } from "./ask.ts";
import { load, portOf, requestText, type Outcome } from "./load.ts";

interface Animal {
  readonly id: number;
  readonly name: string;
  readonly categoryId: number;
  readonly status?: string;
}

const statuses = ["available", "pending", "sold", undefined] as const;
/** Names that a slip in encoding or escaping would change. */
const awkward = ["", "é", "😀", '\\"', "\u2028", "  ", "\t", "\ufeff"] as const;

/** What was acknowledged, over all lives of a server on one data folder. */
export class Acknowledged {
  readonly animals = new Map<number, Animal>();
  #sent = 0;
  #created = 0;

  /** How many 201 came so far. The animals are known when `create` is over. */
  get created(): number {
    return this.#created;
  }

  /** Creates animals from `clients` connections until it is over; keeps those that got 201. */
  async create(
    server: { readonly origin: string },
    key: string,
    clients: number,
    isOver: () => boolean,
  ): Promise<{ readonly created: number } & Pick<Outcome, "statuses" | "latenciesMs">> {
    const outcome = await load({
      port: portOf(server.origin),
      clients,
      keepAlive: true,
      isOver,
      onAnswer: (status) => {
        if (status === 201) this.#created += 1;
      },
      request: () => {
        const number = (this.#sent += 1);
        const name = `animal ${number} ${awkward[number % awkward.length]}`;
        const status = statuses[number % statuses.length];
        return requestText(
          "POST",
          "/v1/pets",
          key,
          JSON.stringify({ name, categoryId: number, status }),
        );
      },
    });
    let created = 0;
    for (const body of outcome.bodies) {
      const animal = JSON.parse(Buffer.from(body, "latin1").toString("utf8")) as Animal;
      if (animal.id === undefined) continue;
      created += 1;
      // An id that was given twice would be the loss of one of the two.
      expect(this.animals.get(animal.id)).toBeUndefined();
      this.animals.set(animal.id, animal);
    }
    return { created, statuses: outcome.statuses, latenciesMs: outcome.latenciesMs };
  }

  /**
   * Reads all animals through the interface and compares each acknowledged one with what is there.
   * Returns the names of all animals that are there.
   */
  async verified(server: { readonly origin: string }, key: string): Promise<string[]> {
    const animals = await callerOf(server, key).animals<Animal>();
    const stored = new Map(animals.map((animal) => [animal.id, animal]));
    const lost = [...this.animals.values()].filter(
      (animal) => !Bun.deepEquals(stored.get(animal.id), animal),
    );
    expect(lost).toEqual([]);
    return [...stored.values()].map(({ name }) => name);
  }
}
