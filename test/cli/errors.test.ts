import { expect, test } from "bun:test";
import { firstOf, messageOf } from "../../src/cli/errors.ts";
import { AppError } from "../../src/domain/errors.ts";

test("an operator reads why it failed", () => {
  const failure = new AppError("unavailable", "The store cannot be used.", { why: "it is full" });
  expect(messageOf(failure)).toBe("The store cannot be used: it is full.");
  expect(messageOf(new AppError("unavailable", "It broke."))).toBe("It broke.");
  expect(messageOf(new TypeError("no such thing"))).toBe("no such thing");
  expect(messageOf("a bare text")).toBe("a bare text");
});

test("of errors that a closing raised on top of another, the first one counts", async () => {
  const closing = (text: string) => ({
    async [Symbol.asyncDispose]() {
      throw new Error(text);
    },
  });
  const work = async () => {
    await using _one = closing("one cannot be closed");
    await using _two = closing("two cannot be closed");
    throw new Error("what began it");
  };
  const error: unknown = await work().catch((error: unknown) => error);
  expect(firstOf(error)).toEqual(new Error("what began it"));
  const alone = new Error("alone");
  expect(firstOf(alone)).toBe(alone);
});
