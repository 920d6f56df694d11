import { Elysia } from "elysia";
import type { WindowView } from "../domain/windows.ts";

/** The headers of an answer as they are gathered, in any order; one spelling a name. */
export type AnswerHeaders = Record<string, string | number>;

/** Puts what the caller is told of its limits into the headers. */
export function showLimits(headers: AnswerHeaders, view: WindowView): void {
  headers["X-RateLimit-Limit"] = view.limit;
  headers["X-RateLimit-Remaining"] = view.remaining;
  headers["X-RateLimit-Reset"] = view.resetSeconds;
}

/** Answers with the same names of headers in the same order share one object. */
class Shape {
  readonly names: readonly string[];
  readonly headers = new Headers();
  /** What `headers` holds, in the order of the names. */
  readonly values: (string | number)[] = [];
  readonly #longer = new Map<string, Shape>();
  #latest: Shape | undefined;

  constructor(names: readonly string[]) {
    this.names = names;
  }

  /** The shape with one more name; the one that was asked for last is at hand. */
  with(name: string): Shape {
    const { names } = this;
    if (this.#latest?.names[names.length] === name) return this.#latest;
    let longer = this.#longer.get(name);
    if (longer === undefined) this.#longer.set(name, (longer = new Shape([...names, name])));
    this.#latest = longer;
    return longer;
  }
}

const noNames = new Shape([]);
const values: (string | number)[] = [];

/**
 * `headers` as a Response takes them over at half the price: copied whole instead of name by name, with only those set
 * that differ from the last answer's. The object returned is the next answer's too, so the Response must be made of it
 * before anything else runs.
 */
export function packed(headers: AnswerHeaders): Headers {
  let shape = noNames;
  let count = 0;
  for (const name in headers) {
    shape = shape.with(name);
    values[count] = headers[name] as string | number;
    count += 1;
  }
  for (let at = 0; at < count; at += 1) {
    const value = values[at] as string | number;
    if (shape.values[at] === value) continue;
    shape.headers.set(shape.names[at] as string, `${value}`);
    shape.values[at] = value;
  }
  return shape.headers;
}

/** Packs the headers of whatever a handler answers with. Elysia makes the Response right behind this hook. */
export function packHeaders() {
  return new Elysia({ name: "pack-headers" }).onAfterHandle(
    { as: "global" },
    // Neither an arrow nor a `return`: Elysia would wait for what they lead to (see atOnce, which it does not heed here).
    function pack({ responseValue, set }) {
      if (typeof responseValue === "string") {
        set.headers = packed(set.headers) as unknown as typeof set.headers;
      }
    },
  );
}
