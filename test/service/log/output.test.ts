import { expect, test } from "bun:test";
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { LineBuffer, LogOutput } from "../../../src/service/log/output.ts";
import { temporaryFolder } from "../../helpers/binary.ts";
import { openFiles } from "../../helpers/open-files.ts";
import { until } from "../../helpers/until.ts";

const dropped = (count: number) => `dropped ${count}`;

function open(path: string | undefined, more: { fd?: number } = {}) {
  const problems: Error[] = [];
  const output = new LogOutput({
    path,
    describeDropped: dropped,
    onProblem: (error) => problems.push(error),
    ...more,
  });
  return { output, problems };
}

test("all lines stand in the file, in order, once the log is closed", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "log");
  const { output } = open(path);
  const lines = Array.from({ length: 20_000 }, (_, i) => `line ${i} with ü and 漢字`);
  for (const line of lines) output.write(line);
  await output.close(5_000);
  expect(readFileSync(path, "utf8")).toBe(`${lines.join("\n")}\n`);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

/** Calls of write(2) that this process made. */
const writeCalls = () => Number(/^syscw: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);

test("lines that come while others are being written are gathered too", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "log");
  const { output } = open(path);
  const before = { calls: writeCalls(), ms: performance.now() };
  const lines = 2_000;
  for (let i = 0; i < lines; i += 1) {
    output.write(`line ${i}`);
    // As long as a write takes: the next line comes just before it is done.
    await stat(path);
  }
  const elapsedMs = performance.now() - before.ms;
  await output.close(5_000);
  // One every ten milliseconds, with a call more for its thread to say that it is done, as each
  // `stat` has one; and as many again for the rest of the process.
  expect(writeCalls() - before.calls - lines).toBeLessThan(10 + (4 * elapsedMs) / 10);
  expect(readFileSync(path, "utf8").split("\n")).toHaveLength(lines + 1);
});

test("after a reopen lines go to a file of the same name, and the moved one is whole", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "log");
  const { output } = open(path);
  output.write("before");
  await until(() => statSync(path).size > 0);
  renameSync(path, `${path}.1`);
  output.reopen();
  await until(() => statSync(path, { throwIfNoEntry: false }) !== undefined);
  output.write("after");
  await output.close(5_000);
  expect(readFileSync(`${path}.1`, "utf8")).toBe("before\n");
  expect(readFileSync(path, "utf8")).toBe("after\n");
  expect(openFiles()).not.toContain(`${path}.1`);
});

test("a file moved away while it is reopened is reopened once more", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "log");
  const { output } = open(path);
  renameSync(path, `${path}.1`);
  output.reopen();
  // Nothing else runs on this thread meanwhile, so it has not heard of the new file yet.
  while (!existsSync(path)) Bun.sleepSync(1);
  renameSync(path, `${path}.2`);
  output.reopen();
  await until(() => existsSync(path));
  await output.close(5_000);
});

test("a line that the old file has a part of is whole in the new one", async () => {
  using folder = temporaryFolder();
  const { fd, path } = pipe(folder.path);
  const { output } = open(path);
  const line = "x".repeat(999);
  for (let i = 0; i < 200; i += 1) output.write(line);
  // The pipe takes what fits into it, which is no whole number of lines.
  await Bun.sleep(50);
  renameSync(path, `${path}.1`);
  output.reopen();
  await output.close(5_000);
  closeSync(fd);
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  expect(new Set(lines)).toEqual(new Set([line]));
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
  const { output } = open(undefined, { fd });
  const line = "x".repeat(999);
  const count = 8_000;
  for (let i = 0; i < count; i += 1) output.write(line);
  expect(output.droppedTotal).toBeGreaterThan(0);

  const reader = drain();
  await output.close(20_000);
  await until(() => read().includes("dropped"));
  reader.kill();
  const lines = read().trimEnd().split("\n");
  const told = lines.filter((each) => each !== line);
  const lost = count - (lines.length - 1);
  expect(told).toEqual([dropped(lost)]);
  // What was told of stays counted: a monitor looks at it seldom.
  expect(output.droppedTotal).toBe(lost);
});

test("close gives up on a pipe that nobody reads", async () => {
  using folder = temporaryFolder();
  const { fd, drain } = pipe(folder.path);
  const { output } = open(undefined, { fd });
  for (let i = 0; i < 1_000; i += 1) output.write("x".repeat(999));
  await output.close(50);
  // Frees the thread that still writes.
  const reader = drain();
  await output.close(20_000);
  reader.kill();
});

test("a full disk is told of once, and closing does not wait for it", async () => {
  const { output, problems } = open("/dev/full");
  output.write("lost");
  await until(() => problems.length > 0);
  output.write("lost too");
  // One that waits does not end before the test's timeout.
  await output.close(600_000);
  expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining("ENOSPC")]);
});

test("a disk that is full again after it had space is told of again", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "log");
  symlinkSync("/dev/full", path);
  const { output, problems } = open(path);
  const isTold = (times: number) => until(() => problems.length === times);
  output.write("first");
  await isTold(1);
  rmSync(path);
  output.reopen();
  await until(() => existsSync(path) && statSync(path).size > 0);
  rmSync(path);
  symlinkSync("/dev/full", path);
  output.reopen();
  output.write("second");
  await isTold(2);
  await output.close(5_000);
});

test.each(["half a li", "a whole line\n", ""])(
  "after %j a line stands by itself",
  async (before) => {
    using folder = temporaryFolder();
    const path = join(folder.path, "log");
    writeFileSync(path, before);
    const { output } = open(path);
    output.write("next");
    await output.close(5_000);
    expect(readFileSync(path, "utf8").split("\n")).toEqual([
      ...before.split("\n").filter((line) => line !== ""),
      "next",
      "",
    ]);
  },
);

test("the rest of a line that is too long is cut off", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "log");
  const { output } = open(path);
  output.write("漢".repeat(100_000));
  output.write("next");
  await output.close(5_000);
  const [long = "", next] = readFileSync(path, "utf8").split("\n");
  expect(long).toMatch(/^漢+$/);
  expect(Buffer.byteLength(long)).toBeLessThan(8 * 1024);
  expect(next).toBe("next");
});

test("a file that cannot be opened is an error at once", () => {
  expect(() => open("/nowhere/at/all/log")).toThrow("ENOENT");
});

test.each([0, 7, 9, 10, 99, 100, 65_535, 1_000_000, 2_147_483_647])("%d as digits", (value) => {
  const buffer = new LineBuffer(64);
  buffer.putAscii("<");
  buffer.putInteger(value);
  buffer.putAscii(">");
  expect(new TextDecoder().decode(buffer.from(0))).toBe(`<${value}>`);
});
