/**
 * The serving end of the writer thread: nobody who waits for it is left waiting, whatever becomes
 * of it.
 */
import { expect, test } from "bun:test";
import { AppError } from "../../../src/domain/errors.ts";
import { Writer } from "../../../src/storage/sqlite/writer.ts";

/** Adds animals through a thread that ends, or refuses, at some names. */
function crashingWriter() {
  const problems: unknown[] = [];
  const writer = new Writer({
    open: { catalogue: "", limits: "", busyTimeoutMs: 100, insertPet: "" },
    onCommit: () => undefined,
    onProblem: (error) => problems.push(error),
    workerUrl: new URL("../../fixtures/workers/crash.ts", import.meta.url).href,
  });
  const add = (name: string): Promise<unknown> =>
    writer.creates
      .add({ name, categoryId: 1n, status: undefined })
      .catch((error: unknown) => error);
  return { writer, problems, add };
}

test.each(["crash", "exit"])(
  "creates that a writer took with it (%s) fail, and the next ones go on",
  async (death) => {
    const { writer, problems, add } = crashingWriter();
    expect(await add("a")).toBe(1n);
    for (const error of await Promise.all([add(death), add("beside it")])) {
      expect(error).toBeInstanceOf(AppError);
      expect(error).toMatchObject({ kind: "unavailable" });
    }
    expect(problems).toHaveLength(1);
    expect(await add("b")).toBe(1n);
    await writer.close();
  },
);

test("a commit that fails is told to all who share it, and the thread goes on", async () => {
  const { writer, problems, add } = crashingWriter();
  const [first, second] = await Promise.all([add("refuse"), add("beside it")]);
  expect(first).toMatchObject({
    kind: "unavailable",
    message: "The animal could not be stored.",
    cause: { code: "SQLITE_FULL" },
  });
  expect([second === first, await add("a"), problems]).toEqual([true, 1n, []]);
  // Closing waits for the creates that were asked for.
  let isCreated = false;
  void add("b").then(() => (isCreated = true));
  await writer.close();
  expect(isCreated).toBe(true);
});
