/** The server's log: what it says, and that it waits for nobody. */
import { expect, test } from "bun:test";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Logger, type LogOptions } from "../../src/service/log.ts";
import { TestClock } from "../helpers/app.ts";
import { temporaryFolder } from "../helpers/binary.ts";
import { logFile } from "../helpers/log-file.ts";
import { until } from "../helpers/until.ts";

const openLog = (options: Partial<LogOptions> = {}) =>
  new Logger({ level: "info", format: "text", clock: new TestClock().read, ...options });
const textFile = () => logFile(new TestClock().read, "text");

test("all lines are written, in order, once the log is closed", async () => {
  using file = textFile();
  const lines = Array.from({ length: 20_000 }, (_, i) => `line ${i} with ü and 漢字`);
  for (const line of lines) file.log.write(line);
  await file.log.close(5_000);
  expect(file.text()).toBe(`${lines.join("\n")}\n`);
});

/** A pipe that holds lines up until `drain` is called. */
function pipe(folder: string) {
  const path = join(folder, "pipe");
  expect(Bun.spawnSync(["mkfifo", path]).exitCode).toBe(0);
  // Opened to read and write, so that opening waits for nobody.
  const fd = openSync(path, "r+");
  const into = join(folder, "read");
  return {
    fd,
    path,
    read: () => readFileSync(into, "utf8"),
    /** Starts a reader in a process of its own: to read here would hold up who writes. */
    drain: () => Bun.spawn(["cat", path], { stdout: Bun.file(into), stderr: "ignore" }),
  };
}

test("a pipe that nobody reads holds nobody up; what does not fit is dropped, counted and told", async () => {
  using folder = temporaryFolder();
  const { fd, read, drain } = pipe(folder.path);
  const log = openLog({ fd });
  const line = "x".repeat(999);
  const count = 8_000;
  for (let i = 0; i < count; i += 1) log.write(line);
  expect(log.droppedTotal).toBeGreaterThan(0);

  const reader = drain();
  await log.close(20_000);
  await until(() => read().includes("dropped"));
  reader.kill();
  const lines = read().trimEnd().split("\n");
  const told = lines.filter((each) => each !== line);
  const lost = count - (lines.length - 1);
  expect(told).toEqual([expect.stringContaining(` ${lost} log lines were dropped`)]);
  // What was told of stays counted: a monitor looks at it seldom.
  expect(log.droppedTotal).toBe(lost);
});

test("closing does not wait for a full disk", async () => {
  const fd = openSync("/dev/full", "w");
  const log = openLog({ fd });
  log.write("lost");
  // One that waits does not end before the test's timeout.
  await log.close(600_000);
  closeSync(fd);
});

test("the rest of a message that is too long is cut off", async () => {
  using file = textFile();
  const { log } = file;
  log.error("漢".repeat(100_000));
  log.error("next");
  await log.close();
  const [long = "", next] = file.text().split("\n");
  expect(long).toMatch(/ error 漢+$/);
  expect(Buffer.byteLength(long)).toBeLessThan(8 * 1024 + 50);
  expect(next).toEndWith(" next");
});

test("a failure is told with its causes, as one sentence on one line", async () => {
  using file = textFile();
  const { log } = file;
  const cause = new Error("database or disk is full");
  log.failure(new Error("The animal could not be stored.", { cause }));
  log.failure(new Error("Alone."));
  log.failure(new Error("two\nlines"));
  await log.close();
  const lines = file.text().trimEnd().split("\n");
  expect(lines.map((line) => line.split(" error ")[1])).toEqual([
    "The animal could not be stored: database or disk is full",
    "Alone.",
    "two lines",
  ]);
});

test("failures of many requests are a line a second, which counts those since the one before", async () => {
  const clock = new TestClock();
  using file = logFile(clock.read, "text");
  const fail = (text: string) => file.log.failureOfMany(new Error(text));
  for (const text of ["one", "two", "three"]) fail(text);
  clock.advance(1_000);
  fail("four");
  fail("five");
  // An outage that is over: its requests are in the counts of their minute.
  clock.advance(60_000);
  fail("six");
  // A clock that is set back keeps nothing quiet for longer than that.
  clock.advance(-120_000);
  fail("seven");
  await file.log.close();
  const said = file.text().trimEnd().split("\n");
  expect(said.map((line) => line.split(" error ")[1])).toEqual([
    "one",
    "four (2 more since the last line)",
    "six",
    "seven",
  ]);
});
