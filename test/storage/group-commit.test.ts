/**
 * What shares a commit, what waits for the next one, and what becomes of those who wait when one
 * fails.
 */
import { expect, test } from "bun:test";
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

const caught = (added: Promise<number>) => added.catch((error: unknown) => error);

test("a commit holds all that came in the turn of its first item; what comes meanwhile shares the next", async () => {
  const { group, commits, batches } = held();
  const results = [group.add(1), group.add(2), Promise.resolve().then(() => group.add(3))];
  await turns();
  results.push(group.add(4), group.add(5));
  await turns();
  expect(batches()).toEqual([[1, 2, 3]]);
  commits[0]?.end();
  await turns();
  expect(batches()).toEqual([
    [1, 2, 3],
    [4, 5],
  ]);
  commits[1]?.end();
  // Each has its own result, and after a pause there is one more commit.
  expect(await Promise.all(results)).toEqual([10, 20, 30, 40, 50]);
  const last = group.add(6);
  await turns();
  commits[2]?.end();
  expect(await last).toBe(60);
});

test("it holds no more than it may, and its failure is told to all that it held and to nobody else", async () => {
  const { group, commits, batches } = held({ batchMax: 2 });
  const results = [1, 2, 3, 4, 5].map((item) => caught(group.add(item)));
  const error = new Error("no room");
  for (const failure of [undefined, error, undefined]) {
    await turns();
    commits.at(-1)?.end(failure);
  }
  expect(await Promise.all(results)).toEqual([10, 20, error, error, 50]);
  expect(batches()).toEqual([[1, 2], [3, 4], [5]]);
});

test("an item that is aborted before its commit begins is left out, whether others wait or not", async () => {
  const { group, commits, batches } = held();
  const message = "The request ended before it was carried out.";
  const aborted = { kind: "invalid_request", message };
  const [alone, among, late] = [1, 2, 3].map(() => new AbortController()) as [
    AbortController,
    AbortController,
    AbortController,
  ];
  const first = caught(group.add(1, alone.signal));
  alone.abort();
  expect(await first).toMatchObject(aborted);
  await group.settled();
  expect(batches()).toEqual([]);

  const second = group.add(2, late.signal);
  await turns();
  const waiting = [caught(group.add(3, among.signal)), caught(group.add(4))];
  // In the turn in which its commit would begin.
  commits[0]?.end();
  await second;
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
  const results = [group.add(1)];
  await turns();
  results.push(group.add(2), group.add(3));
  expect(await caught(group.add(4))).toMatchObject({
    kind: "unavailable",
    message: "The store is overloaded at the moment.",
  });
  commits[0]?.end();
  await turns();
  results.push(group.add(5));
  for (const commit of [1, 2]) {
    commits[commit]?.end();
    await turns();
  }
  expect(await Promise.all(results)).toEqual([10, 20, 30, 50]);
  expect(batches()).toEqual([[1], [2, 3], [5]]);
});
