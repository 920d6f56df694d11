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
  /** How many 201 came so far. The animals are known when `create` is over. */
  created = 0;
  #sent = 0;

  /** Creates animals from `clients` connections until it is over; keeps those that got 201. */
  async create(
    server: { readonly origin: string },
    key: string,
    clients: number,
    isOver: () => boolean,
  ): Promise<Outcome> {
    const outcome = await load({
      port: portOf(server.origin),
      clients,
      keepAlive: true,
      isOver,
      onAnswer: (status) => void (this.created += status === 201 ? 1 : 0),
      request: () => {
        const number = (this.#sent += 1);
        const name = `animal ${number} ${awkward[number % awkward.length]}`;
        const status = statuses[number % statuses.length];
        const body = JSON.stringify({ name, categoryId: number, status });
        return requestText("POST", "/v1/pets", key, body);
      },
    });
    for (const body of outcome.bodies) {
      const animal = JSON.parse(Buffer.from(body, "latin1").toString("utf8")) as Animal;
      if (animal.id === undefined) continue;
      // An id that was given twice would be the loss of one of the two.
      expect(this.animals.get(animal.id)).toBeUndefined();
      this.animals.set(animal.id, animal);
    }
    return outcome;
  }

  /**
   * Reads all animals through the interface and compares each acknowledged one with what is there.
   * Returns the names of all animals that are there.
   */
  async verified(server: { readonly origin: string }, key: string): Promise<string[]> {
    const stored = await callerOf(server, key).animals<Animal>();
    const byId = new Map(stored.map((animal) => [animal.id, animal]));
    const isLost = (animal: Animal) => !Bun.deepEquals(byId.get(animal.id), animal);
    expect([...this.animals.values()].filter(isLost)).toEqual([]);
    return stored.map(({ name }) => name);
  }
}
