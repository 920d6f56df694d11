/** The server's log: what it says, and that it waits for nobody. */
import { expect, test } from "bun:test";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { Logger } from "../../src/service/log.ts";
import { TestClock } from "../helpers/app.ts";
import { temporaryFolder } from "../helpers/binary.ts";
import { logFile } from "../helpers/log-file.ts";
import { until } from "../helpers/until.ts";

const clock = new TestClock();
const logTo = (fd: number) => new Logger({ level: "info", format: "text", clock: clock.read, fd });

/** What `work` has a log say, line by line, behind the time and the level. */
async function said(work: (log: Logger) => void): Promise<string[]> {
  using file = logFile(clock.read, "text");
  work(file.log);
  await file.log.close();
  return file
    .text()
    .trimEnd()
    .split("\n")
    .map((line) => line.split(" error ")[1] ?? line);
}

test("all lines are written, in order, once the log is closed", async () => {
  const lines = Array.from({ length: 20_000 }, (_, i) => `line ${i} with ü and 漢字`);
  expect(await said((log) => lines.forEach((line) => log.write(line)))).toEqual(lines);
});

test("a pipe that nobody reads holds nobody up; what does not fit is dropped, counted and told", async () => {
  using folder = temporaryFolder();
  const [path, into] = ["pipe", "read"].map((name) => join(folder.path, name)) as [string, string];
  expect(Bun.spawnSync(["mkfifo", path]).exitCode).toBe(0);
  // Opened to read and write, so that opening waits for nobody.
  const log = logTo(openSync(path, "r+"));
  const line = "x".repeat(999);
  const count = 8_000;
  for (let i = 0; i < count; i += 1) log.write(line);
  expect(log.droppedTotal).toBeGreaterThan(0);

  // A reader in a process of its own: to read here would hold up who writes.
  const reader = Bun.spawn(["cat", path], { stdout: Bun.file(into), stderr: "ignore" });
  await log.close(20_000);
  const read = () => Bun.file(into).text();
  await until(async () => (await read()).includes("dropped"));
  reader.kill();
  const lines = (await read()).trimEnd().split("\n");
  const lost = count - (lines.length - 1);
  const told = lines.filter((each) => each !== line);
  expect(told).toEqual([expect.stringContaining(` ${lost} log lines were dropped`)]);
  // What was told of stays counted: a monitor looks at it seldom.
  expect(log.droppedTotal).toBe(lost);
});

test("closing does not wait for a full disk", async () => {
  const fd = openSync("/dev/full", "w");
  const log = logTo(fd);
  log.write("lost");
  // One that waits does not end before the test's timeout.
  await log.close(600_000);
  closeSync(fd);
});

test("a failure is told with its causes, as one sentence on one line, and cut off when too long", async () => {
  const cause = new Error("database or disk is full");
  const [long = "", ...lines] = await said((log) => {
    log.error("漢".repeat(100_000));
    log.failure(new Error("The animal could not be stored.", { cause }));
    log.failure(new Error("Alone."));
    log.failure(new Error("two\nlines"));
  });
  expect(long).toMatch(/^漢+$/);
  expect(Buffer.byteLength(long)).toBeLessThan(8 * 1024 + 50);
  expect(lines).toEqual([
    "The animal could not be stored: database or disk is full",
    "Alone.",
    "two lines",
  ]);
});

test("failures of many requests are a line a second, which counts those since the one before", async () => {
  const lines = await said((log) => {
    for (const [afterMs, texts] of [
      [0, ["one", "two", "three"]],
      [1_000, ["four", "five"]],
      // An outage that is over: its requests are in the counts of their minute.
      [60_000, ["six"]],
      // A clock that is set back keeps nothing quiet for longer than that.
      [-120_000, ["seven"]],
    ] as const) {
      clock.advance(afterMs);
      for (const text of texts) log.failureOfMany(new Error(text));
    }
  });
  expect(lines).toEqual(["one", "four (2 more since the last line)", "six", "seven"]);
});
