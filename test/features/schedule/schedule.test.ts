import { expect, test } from "bun:test";
import { dayMs, hourMs, minuteMs } from "../../../src/domain/clock.ts";
import {
  claimJob,
  finishJob,
  type Job,
  jobsOf,
  leaseMs,
  Schedule,
  scheduleJob,
  type ScheduleOptions,
  setJob,
} from "../../../src/features/schedule/jobs.ts";
import type { Database } from "../../../src/storage/database.ts";
import { TestClock } from "../../helpers/app.ts";
import { openTestStore } from "../../helpers/store-under-test.ts";

type Work = (signal: AbortSignal) => Promise<string | undefined>;

/** A store with a job, `pull north`, whose process does `work`: nothing is a success. */
async function scheduled(work: Work = async () => undefined, everyMs = hourMs) {
  const clock = new TestClock();
  const { db } = await openTestStore({ clock: clock.read });
  const done: string[] = [];
  const problems: string[] = [];
  const ended: (string | null)[] = [];
  const add = (target: string) =>
    db.transaction((tx) =>
      scheduleJob(tx, { kind: "pull", target, everyMs, nextAtMs: clock.nowMs }),
    );
  await add("north");
  /** A process with the schedule. */
  const make = ({ store = db, does = work }: { store?: Database; does?: Work } = {}) => {
    const run: ScheduleOptions["run"] = async (_command, job, signal) => {
      if (does === work) done.push(job.name);
      const problem = await does(signal);
      if (problem === undefined) {
        await db.transaction((tx) => finishJob(tx, job, { ok: true }, clock.nowMs));
      }
      return problem;
    };
    const ends = async (problem: string | null) => void ended.push(problem);
    return new Schedule({
      db: store,
      clock: clock.read,
      log: {
        info: (text) => problems.push(text),
        warn: (text) => problems.push(text),
        failure: (error) => problems.push(String(error)),
      },
      commands: [{ kind: "pull", words: () => [], ended: ends }],
      run,
    });
  };
  /** All of the schedules look once, and finish what they began. */
  const look = async (...schedules: readonly Schedule[]) => {
    await Promise.all(schedules.map((each) => each.look()));
    await Promise.all(schedules.map((each) => each.ended()));
  };
  const job = async () => (await jobsOf(db))[0] as Job;
  return { add, clock, db, done, ended, job, look, make, problems };
}

test("a new job is done at once, and then by its interval", async () => {
  const { clock, done, look, make } = await scheduled();
  for (const [waitMs, times] of [
    [0, 1],
    [hourMs - 1, 1],
    [1, 2],
  ] as const) {
    clock.advance(waitMs);
    await look(make());
    expect(done).toHaveLength(times);
  }
});

test("of many processes that see a job as due, one does it", async () => {
  const { add, done, look, make } = await scheduled();
  await add("south");
  await look(...Array.from({ length: 8 }, () => make()));
  expect(done.toSorted()).toEqual(["pull north", "pull south"]);
});

test("a job whose process was killed is tried again after a minute, and its problem is shown", async () => {
  let problem: string | undefined = "killed by SIGKILL";
  const { clock, done, job, look, make, problems } = await scheduled(async () => problem);
  await look(make());
  expect(await job()).toMatchObject({ failures: 1, problem: { text: "killed by SIGKILL" } });
  clock.advance(minuteMs - 1);
  await look(make());
  expect(done).toHaveLength(1);
  for (const waitMs of [1, 2 * minuteMs]) {
    clock.advance(waitMs);
    await look(make());
  }
  clock.advance(4 * minuteMs);
  problem = undefined;
  await look(make());
  expect(await job()).toMatchObject({ failures: 0, problem: null, succeededAtMs: clock.nowMs });
  // Each failure is told, and how many there were.
  expect(problems).toEqual([
    "pull north failed: killed by SIGKILL",
    "pull north failed, 2 times in a row: killed by SIGKILL",
    "pull north failed, 3 times in a row: killed by SIGKILL",
    "pull north succeeds again.",
  ]);
});

test("a job of a process that died is left to others after its lease", async () => {
  const { clock, done, look, make } = await scheduled();
  await make({ does: () => new Promise(() => {}) }).look();
  clock.advance(leaseMs - 1);
  await look(make());
  expect(done).toEqual([]);
  clock.advance(1);
  await look(make());
  expect(done).toEqual(["pull north"]);
});

test("a job that takes longer than its lease is left to the process that does it", async () => {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const { clock, done, ended, make } = await scheduled(() => promise, dayMs);
  const [own, other] = [make(), make()];
  await own.look();
  for (let minutes = 0; minutes < 60; minutes += 10) {
    clock.advance(10 * minuteMs);
    await own.look();
    await other.look();
  }
  resolve(undefined);
  await own.ended();
  expect(ended).toEqual([null]);
  await other.look();
  expect(done).toEqual(["pull north"]);
});

test("a paused job waits until it is resumed", async () => {
  const { clock, db, done, look, make } = await scheduled();
  const pause = (paused: "person" | null) =>
    db.transaction((tx) => setJob(tx, "pull north", { paused }));
  await pause("person");
  clock.advance(dayMs);
  await look(make());
  expect(done).toEqual([]);
  await pause(null);
  await look(make());
  expect(done).toEqual(["pull north"]);
});

test("a job that the end of the service interrupts is no failure, and goes on elsewhere", async () => {
  const { done, job, look, make } = await scheduled();
  const does: Work = (signal) =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve("killed")));
  const stopping = make({ does });
  await stopping.look();
  await stopping.close();
  expect(await job()).toMatchObject({ failures: 0, problem: null });
  await look(make());
  expect(done).toEqual(["pull north"]);
});

test("a process that lost its job to another one leaves its times alone", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const { clock, db, job, make } = await scheduled(() => promise);
  const lost = make();
  await lost.look();
  clock.advance(leaseMs);
  await claimJob(db, await job(), clock.nowMs);
  const claimed = await job();
  resolve("killed");
  await lost.ended();
  expect(await job()).toEqual(claimed);
});

test("how a job ended is told also where the store cannot be read or written", async () => {
  const broken = () => Promise.reject(new Error("full"));
  for (const [part, problem, told] of [
    ["read", undefined, "How it ended could not be read."],
    ["transaction", "killed", "killed"],
  ] as const) {
    const { db, ended, look, make, problems } = await scheduled(async () => problem);
    let isBroken = false;
    const store: Database = {
      read: (work) => (isBroken && part === "read" ? broken() : db.read(work)),
      transaction: (work) => (isBroken && part === "transaction" ? broken() : db.transaction(work)),
    };
    const does = async () => ((isBroken = true), problem);
    await look(make({ store, does }));
    expect([ended, problems[0]]).toEqual([[told], "Error: full"]);
  }
});
