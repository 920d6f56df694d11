/**
 * The serving end of the writer thread: nobody who waits for it is left waiting, whatever becomes
 * of it.
 */
import { expect, test } from "bun:test";
import { AppError } from "../../../src/domain/errors.ts";
import { Writer } from "../../../src/storage/sqlite/writer.ts";

function crashingWriter() {
  const problems: unknown[] = [];
  const batches: number[] = [];
  const writer = new Writer({
    open: { catalogue: "", limits: "", busyTimeoutMs: 100, insertPet: "" },
    onCommit: ({ batchSize }) => batches.push(batchSize),
    onProblem: (error) => problems.push(error),
    workerUrl: new URL("../../fixtures/workers/crash.ts", import.meta.url).href,
  });
  return { writer, problems, batches };
}

const named = (name: string) => ({ name, categoryId: 1n, status: undefined });

async function refusal(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

for (const death of ["crash", "exit"]) {
  test(`creates that a writer took with it (${death}) fail, and the next ones go on`, async () => {
    const { writer, problems } = crashingWriter();
    expect(await writer.creates.add(named("a"))).toBe(1n);
    const lost = await Promise.all([
      refusal(writer.creates.add(named(death))),
      refusal(writer.creates.add(named("beside it"))),
    ]);
    for (const error of lost) {
      expect(error).toBeInstanceOf(AppError);
      expect(error).toMatchObject({ kind: "unavailable" });
    }
    expect(problems).toHaveLength(1);
    expect(await writer.creates.add(named("b"))).toBe(1n);
    await writer.close();
  });
}

test("a commit that fails is told to all who share it, and the thread goes on", async () => {
  const { writer, problems } = crashingWriter();
  const [first, second] = await Promise.all([
    refusal(writer.creates.add(named("refuse"))),
    refusal(writer.creates.add(named("beside it"))),
  ]);
  expect(first).toMatchObject({
    kind: "unavailable",
    message: "The animal could not be stored.",
    cause: { code: "SQLITE_FULL" },
  });
  expect(second).toBe(first);
  expect(await writer.creates.add(named("a"))).toBe(1n);
  expect(problems).toEqual([]);
  await writer.close();
});

test("closing waits for the creates that were asked for", async () => {
  const { writer } = crashingWriter();
  let isCreated = false;
  const creating = writer.creates.add(named("a")).then(() => (isCreated = true));
  await writer.close();
  expect(isCreated).toBe(true);
  await creating;
});
