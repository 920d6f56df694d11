/**
 * What shares a commit, what waits for the next one, and what becomes of those who wait when one
 * fails.
 */
import { describe, expect, test } from "bun:test";
import { GroupCommit, type GroupCommitOptions } from "../../src/storage/group-commit.ts";

/**
 * A group commit of numbers whose commits end when the test says so. Each answers with ten times
 * the number.
 */
function held(options: Partial<GroupCommitOptions> = {}) {
  const commits: { items: number[]; sinceMs: number; end: (error?: Error) => void }[] = [];
  const group = new GroupCommit<number, number>(
    (items, sinceMs) => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly number[]>();
      const end = (error?: Error) =>
        error === undefined ? resolve(items.map((item) => item * 10)) : reject(error);
      commits.push({ items, sinceMs, end });
      return promise;
    },
    { batchMax: 100, ...options },
  );
  const batches = () => commits.map(({ items }) => items);
  return { group, commits, batches };
}

/** Enough turns of the event loop for all that can happen. */
const turns = async () => {
  for (let i = 0; i < 5; i += 1) await new Promise(setImmediate);
};

describe("a commit", () => {
  test("holds all that came in the turn of its first item, and answers each with its own result", async () => {
    const { group, commits, batches } = held();
    const results = [group.add(1), group.add(2), Promise.resolve().then(() => group.add(3))];
    await turns();
    expect(batches()).toEqual([[1, 2, 3]]);
    commits[0]?.end();
    expect(await Promise.all(results)).toEqual([10, 20, 30]);
  });

  test("is alone: what comes while it is under way shares the next one", async () => {
    const { group, commits, batches } = held();
    const first = group.add(1);
    await turns();
    const later = [group.add(2), group.add(3)];
    await turns();
    expect(batches()).toEqual([[1]]);
    commits[0]?.end();
    expect(await first).toBe(10);
    await turns();
    expect(batches()).toEqual([[1], [2, 3]]);
    commits[1]?.end();
    expect(await Promise.all(later)).toEqual([20, 30]);
    // And after a pause there is one more.
    const last = group.add(4);
    await turns();
    commits[2]?.end();
    expect(await last).toBe(40);
  });

  test("holds no more than it may; the rest follows", async () => {
    const { group, commits, batches } = held({ batchMax: 2 });
    const results = [1, 2, 3, 4, 5].map((item) => group.add(item));
    for (let position = 0; position < 3; position += 1) {
      await turns();
      commits[position]?.end();
    }
    expect(await Promise.all(results)).toEqual([10, 20, 30, 40, 50]);
    expect(batches()).toEqual([[1, 2], [3, 4], [5]]);
  });

  test("that fails is told to all that it held and to nobody else", async () => {
    const { group, commits } = held({ batchMax: 2 });
    const results = [1, 2, 3].map((item) => group.add(item).catch((error: unknown) => error));
    const error = new Error("no room");
    await turns();
    commits[0]?.end(error);
    await turns();
    commits[1]?.end();
    expect(await Promise.all(results)).toEqual([error, error, 30]);
  });
});

test("an item that is aborted before its commit begins is left out, whether others wait or not", async () => {
  const { group, commits, batches } = held();
  const aborted = {
    kind: "invalid_request",
    message: "The request ended before it was carried out.",
  };
  const caught = (added: Promise<number>) => added.catch((error: unknown) => error);
  const [alone, among, late] = [
    new AbortController(),
    new AbortController(),
    new AbortController(),
  ];
  const first = caught(group.add(1, alone.signal));
  alone.abort();
  expect(await first).toMatchObject(aborted);
  await group.settled();
  expect(batches()).toEqual([]);

  const held2 = group.add(2, late.signal);
  await turns();
  const waiting = [caught(group.add(3, among.signal)), caught(group.add(4))];
  // In the turn in which its commit would begin.
  commits[0]?.end();
  await held2;
  among.abort();
  // Too late: its commit is done.
  late.abort();
  await turns();
  commits[1]?.end();
  expect(await Promise.all(waiting)).toMatchObject([aborted, 40]);
  expect(batches()).toEqual([[2], [4]]);
});

test("above the bound an item is refused at once, and taken again when there is room", async () => {
  const { group, commits, batches } = held({ waitingMax: 2 });
  const first = group.add(1);
  await turns();
  const waiting = [group.add(2), group.add(3)];
  const refused = await group.add(4).catch((error: unknown) => error);
  expect(refused).toMatchObject({
    kind: "unavailable",
    message: "The store is overloaded at the moment.",
  });
  commits[0]?.end();
  await first;
  await turns();
  const after = group.add(5);
  commits[1]?.end();
  await turns();
  commits[2]?.end();
  expect(await Promise.all([...waiting, after])).toEqual([20, 30, 50]);
  expect(batches()).toEqual([[1], [2, 3], [5]]);
});
