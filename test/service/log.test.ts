/** The server's log: what it says, and that it waits for nobody. */
import { expect, test } from "bun:test";
import { closeSync, openSync } from "node:fs";
import { Logger } from "../../src/service/log.ts";
import { TestClock } from "../helpers/app.ts";
import { logFile } from "../helpers/log-file.ts";

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

test("failures of many requests are a line a second, whatever the clock does", async () => {
  const lines = await said((log) => {
    for (const [afterMs, texts] of [
      [0, ["one", "two", "three"]],
      [1_000, ["four", "five"]],
      [60_000, ["six"]],
      // A clock that is set back keeps nothing quiet for longer than that.
      [-120_000, ["seven"]],
    ] as const) {
      clock.advance(afterMs);
      for (const text of texts) log.failureOfMany(new Error(text));
    }
  });
  expect(lines).toEqual(["one", "four", "six", "seven"]);
});
