/** What the server's log says of a failure, and when. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Logger, timestamps } from "../../../src/service/log/logger.ts";
import { TestClock } from "../../helpers/app.ts";
import { temporaryFolder } from "../../helpers/binary.ts";

test("a failure is told with its causes, as one sentence on one line", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "log");
  const log = new Logger({
    path,
    level: "info",
    format: "text",
    clock: new TestClock().read,
    onProblem: (error) => expect(error).toBeUndefined(),
  });
  const cause = new Error("database or disk is full");
  log.failure(new Error("The animal could not be stored.", { cause }));
  log.failure(new Error("Alone."));
  log.failure(new Error("two\nlines"));
  await log.close();
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  expect(lines.map((line) => line.split(" error ")[1])).toEqual([
    "The animal could not be stored: database or disk is full",
    "Alone.",
    "two lines",
  ]);
});

test("a time stamp shows every millisecond, whichever was written before", () => {
  const at = Date.UTC(2026, 10, 21, 8, 32);
  const write = timestamps();
  const times = [0, 1, 1, 2, 99, 100, 999, 1_000, 1_001, 59_999, 60_000, 59_999, 5];
  expect(times.map((ms) => write(at + ms))).toEqual(
    times.map((ms) => new Date(at + ms).toISOString()),
  );
});
