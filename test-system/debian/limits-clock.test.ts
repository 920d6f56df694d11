/** The executable under a clock that this test sets. */
import { afterEach, describe, expect, test } from "bun:test";
import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { admittedOf, ask, hammer } from "../../test/helpers/ask.ts";
import {
  makeKey,
  rehome,
  serve,
  temporaryFolder,
  type RunningBinary,
  type TestKey,
} from "../../test/helpers/binary.ts";

const source = join(import.meta.dir, "../../test/fixtures/clock/clock.c");
const compiler = Bun.which("gcc") ?? Bun.which("x86_64-linux-gnu-gcc");

interface SettableClock {
  /** What a program that follows this clock needs. */
  readonly env: Readonly<Record<string, string>>;
  /** Sets how much the clock shows more than it should. */
  set(offsetMs: number): void;
}

/** A clock whose files lie in `folder`. */
function clockIn(folder: string): SettableClock {
  const [library, file] = [join(folder, "clock.so"), join(folder, "clock")];
  const command = [compiler ?? "gcc", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"];
  const { exitCode, stderr } = Bun.spawnSync(command);
  if (exitCode !== 0) throw new Error(stderr.toString());
  writeFileSync(file, new BigInt64Array(1));
  return {
    env: { LD_PRELOAD: library, CLOCK_OFFSET: file },
    set(offsetMs) {
      // Programs have it mapped: it is changed in its place.
      const opened = openSync(file, "r+");
      writeSync(opened, BigInt64Array.of(BigInt(Math.round(offsetMs)) * 1_000_000n));
      closeSync(opened);
    },
  };
}

const minuteMs = 60_000;

/**
 * A data folder and a server on it that share a clock, which runs, and is this machine's plus an
 * offset.
 */
class Machine implements AsyncDisposable {
  readonly #folder = temporaryFolder();
  readonly #clock = clockIn(this.#folder.path);
  readonly path = join(this.#folder.path, "data");
  readonly env = this.#clock.env;
  #offsetMs = 0;
  #server: RunningBinary | undefined;

  constructor(nowMs: number) {
    this.set(nowMs);
  }

  get nowMs(): number {
    return Date.now() + this.#offsetMs;
  }

  set(nowMs: number): void {
    this.advance(nowMs - this.nowMs);
  }

  advance(ms: number): void {
    this.#offsetMs += ms;
    this.#clock.set(this.#offsetMs);
  }

  async start(...args: string[]): Promise<void> {
    await this.#server?.stop();
    this.#server = await serve(this.path, args, { env: this.env });
  }

  get origin(): string {
    if (this.#server === undefined) throw new Error("the server was not started");
    return this.#server.origin;
  }

  key(...args: string[]): Promise<TestKey> {
    return makeKey(this.path, ...args);
  }

  async keys(...args: string[]): Promise<{ key?: string }> {
    const result = await rehome(["keys", ...args, "--data", this.path, "--json"], {
      env: this.env,
    });
    if (result.exitCode !== 0) throw new Error(result.stderr);
    return JSON.parse(result.stdout) as { key?: string };
  }

  /** Goes on to the next moment that is `ms` into a minute. */
  toMinute(ms: number): void {
    this.advance(minuteMs - (this.nowMs % minuteMs) + ms);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
    this.#folder[Symbol.dispose]();
  }
}

let machine: Machine;
afterEach(() => machine[Symbol.asyncDispose]());

const noon = Date.UTC(2027, 2, 3, 12, 0, 10);
const hammered = async (key: string, count: number) =>
  admittedOf(await hammer([machine.origin], key, count, 32));

describe("windows", () => {
  test("let who waited Retry-After through: the minute's, and the day's at midnight UTC", async () => {
    machine = new Machine(noon);
    await machine.start();
    const { key } = await machine.key("--plan", "free");
    const numbers = ["--per-minute", "60", "--per-day", "60"];
    const { key: daily } = await machine.key("--plan", "enterprise", ...numbers);
    for (const credential of [key, daily]) {
      expect(await hammered(credential, 70)).toBe(60);
      const sentMs = machine.nowMs;
      const { retryAfterSeconds = 0, resetSeconds } = await ask(machine.origin, credential);
      const waitSeconds = (fromMs: number) => Math.ceil((resetSeconds * 1000 - fromMs) / 1000);
      expect(retryAfterSeconds).toBeGreaterThanOrEqual(waitSeconds(machine.nowMs));
      // The file holds whole milliseconds.
      expect(retryAfterSeconds).toBeLessThanOrEqual(waitSeconds(sentMs - 1));
      machine.advance(retryAfterSeconds * 1000);
      expect(await ask(machine.origin, credential)).toMatchObject({ status: 200, remaining: 59 });
    }
    expect(new Date(machine.nowMs).getUTCDate()).toBe(4);
  });
});

describe("bans", () => {
  /** Three noisy minutes. Ends within the third. */
  async function misbehave(key: string): Promise<void> {
    for (let i = 0; i < 3; i += 1) {
      machine.toMinute(500);
      await hammered(key, 70);
      machine.advance(2_500);
      await hammered(key, 40);
    }
  }

  test("follow three noisy minutes, say so, survive restart and rotation, and end by themselves", async () => {
    machine = new Machine(noon);
    await machine.start();
    const { key, id } = await machine.key("--plan", "free");
    await misbehave(key);
    const banned = async (credential: string) => {
      const deadlineMs = performance.now() + 90_000;
      for (;;) {
        // The thread that writes keeps the ban a moment after the refusal that led to it.
        const answer = await ask(machine.origin, credential);
        if (answer.code === "key_banned" || performance.now() > deadlineMs) return answer;
      }
    };
    const first = await banned(key);
    expect(first).toMatchObject({ status: 429, code: "key_banned", remaining: 0 });
    expect(first.message).toContain("it went on sending requests after 429 in 3 minutes out of 10");
    expect(first.retryAfterSeconds).toBeGreaterThan(290);
    // Five minutes, and up to a second until the end of the second in which they end.
    expect(first.retryAfterSeconds).toBeLessThanOrEqual(301);
    await machine.start();
    expect(await banned(key)).toMatchObject({
      code: "key_banned",
      resetSeconds: first.resetSeconds,
    });
    const { key: rotated = "" } = await machine.keys("rotate", id, "--grace", "0");
    expect(await banned(rotated)).toMatchObject({ resetSeconds: first.resetSeconds });
    machine.advance(((await banned(rotated)).retryAfterSeconds ?? 0) * 1000);
    expect((await ask(machine.origin, rotated)).status).toBe(200);

    await misbehave(rotated);
    expect((await banned(rotated)).retryAfterSeconds).toBeGreaterThan(890);
    await machine.keys("unban", id);
    machine.toMinute(0);
    expect((await ask(machine.origin, rotated)).status).toBe(200);
  });

  test("are off with --bans off", async () => {
    machine = new Machine(noon);
    await machine.start("--bans", "off");
    const { key } = await machine.key("--plan", "free");
    await misbehave(key);
    await misbehave(key);
    machine.toMinute(0);
    expect((await ask(machine.origin, key)).status).toBe(200);
  });
});
