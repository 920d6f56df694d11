/** What leaves storage when SQLite fails. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import type { AppError } from "../../../src/domain/errors.ts";
import { translated } from "../../../src/storage/sqlite/database.ts";

function failureOf(call: () => unknown): AppError {
  try {
    call();
  } catch (error) {
    return error as AppError;
  }
  throw new Error("nothing was thrown");
}

test("a disk without room is said in words, with what to do", () => {
  const full = new Database(":memory:");
  full.run("PRAGMA max_page_count = 1");
  const calls = translated({ fill: () => full.run("CREATE TABLE one (a)"), name: "full" });
  expect(calls.name).toBe("full");
  expect(failureOf(() => calls.fill())).toMatchObject({
    kind: "unavailable",
    message: "The store cannot be used at the moment.",
    hint: expect.stringMatching(/no room left on its disk.*rehome doctor/),
  });
});

test("what is no failure of the database stays what it is", () => {
  const calls = translated({
    refuse() {
      throw new RangeError("no");
    },
  });
  expect(failureOf(() => calls.refuse())).toBeInstanceOf(RangeError);
});
