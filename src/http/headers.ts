import { Elysia } from "elysia";

/** The headers of an answer as they are gathered, in any order and case. */
export type AnswerHeaders = Record<string, string | number>;

/** The answers with the same names of headers in the same order share one object. */
class Shape {
  readonly headers = new Headers();
  /** What `headers` holds, in order. */
  readonly values: (string | number)[] = [];
  readonly #longer = new Map<string, Shape>();

  /** The shape with one more name. */
  with(name: string): Shape {
    let longer = this.#longer.get(name);
    if (longer === undefined) this.#longer.set(name, (longer = new Shape()));
    return longer;
  }
}

const noNames = new Shape();

/**
 * `headers` as a Response takes them over at half the price: copied whole instead of name by name, with only those set
 * that differ from the last answer's. The object returned is the next answer's too, so the Response must be made of it
 * before anything else runs.
 */
export function packed(headers: AnswerHeaders): Headers {
  let shape = noNames;
  for (const name in headers) shape = shape.with(name);
  let position = 0;
  for (const name in headers) {
    const value = headers[name] as string | number;
    if (shape.values[position] !== value) {
      shape.headers.set(name, `${value}`);
      shape.values[position] = value;
    }
    position += 1;
  }
  return shape.headers;
}

/** Packs the headers of whatever a handler answers with. Elysia makes the Response right behind this hook. */
export function packHeaders() {
  return new Elysia({ name: "pack-headers" }).onAfterHandle(
    { as: "global" },
    ({ responseValue, set }) => {
      if (typeof responseValue !== "string") return;
      set.headers = packed(set.headers) as unknown as typeof set.headers;
    },
  );
}
