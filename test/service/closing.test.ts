import { expect, test } from "bun:test";
import { closing } from "../../src/service/closing.ts";

const failing = (message: string) => async () => {
  throw new Error(message);
};

test("what fails is closed too, and its error is the one that counts", async () => {
  let closed = 0;
  const work = failing("the work failed");
  expect(closing(() => (closed += 1), work)).rejects.toThrow("the work failed");
  expect(closing(failing("the close failed"), work)).rejects.toThrow("the work failed");
  await Bun.sleep(0);
  expect(closed).toBe(1);
});

test("a close that fails after the work is a failure", () => {
  expect(closing(failing("the close failed"), async () => 1)).rejects.toThrow("the close failed");
});
