import { expect, test } from "bun:test";
import { dayMs, hourMs, minuteMs } from "../../../src/domain/clock.ts";
import { leaseMs } from "../../../src/features/schedule/job-times.ts";
import { Schedule, type ScheduleOptions, type Work } from "../../../src/features/schedule/index.ts";
import {
  claimJob,
  finishJob,
  type Job,
  jobsOf,
  pauseJob,
  scheduleJob,
} from "../../../src/features/schedule/jobs.ts";
import { TestClock } from "../../helpers/app.ts";
import { openTestStore } from "../../helpers/store-under-test.ts";

async function scheduled(run: (name: string) => string | undefined | Promise<string | undefined>) {
  const clock = new TestClock();
  const { db } = await openTestStore({ clock: clock.read });
  const done: string[] = [];
  const problems: string[] = [];
  const ended: (string | null)[] = [];
  const make = (store = db) =>
    new Schedule({
      db: store,
      clock: clock.read,
      log: {
        info: (text) => problems.push(text),
        warn: (text) => problems.push(text),
        failure: (error) => done.push(`failed: ${String(error)}`),
      },
      workOf: ({ name }) => ({
        async run() {
          done.push(name);
          const problem = await run(name);
          if (problem === undefined) {
            await db.transaction((tx) => finishJob(tx, name, { ok: true }, clock.nowMs, 0));
          }
          return problem;
        },
        ended: async (problem) => void ended.push(problem),
      }),
    });
  const add = (target: string, everyMs = hourMs) =>
    db.transaction((tx) => scheduleJob(tx, { kind: "pull", target }, everyMs, clock.nowMs));
  /** All of the schedules look once, and finish what they began. */
  const look = async (...schedules: Schedule[]) => {
    await Promise.all(schedules.map((each) => each.look()));
    await Promise.all(schedules.map((each) => each.ended()));
  };
  return { add, clock, db, done, ended, look, make, problems };
}

/** A process with the schedule that runs its jobs so. */
const running = (db: ScheduleOptions["db"], clock: TestClock, run: Work["run"]) =>
  new Schedule({
    db,
    clock: clock.read,
    log: { info: () => {}, warn: () => {}, failure: () => {} },
    workOf: () => ({ run, ended: async () => {} }),
  });

test("a new job is done at once, and then by its interval", async () => {
  const { add, clock, done, look, make } = await scheduled(() => undefined);
  await add("north");
  await look(make());
  expect(done).toEqual(["pull north"]);
  clock.advance(hourMs - 1);
  await look(make());
  expect(done).toHaveLength(1);
  clock.advance(1);
  await look(make());
  expect(done).toHaveLength(2);
});

test("of many processes that see a job as due, one does it", async () => {
  const { add, done, look, make } = await scheduled(() => undefined);
  await add("north");
  await add("south");
  await look(...Array.from({ length: 8 }, () => make()));
  expect(done.toSorted()).toEqual(["pull north", "pull south"]);
});

test("a job whose process was killed is tried again after a minute, and its problem is shown", async () => {
  let problem: string | undefined = "killed by SIGKILL";
  const { add, clock, db, done, look, make, problems } = await scheduled(() => problem);
  await add("north");
  await look(make());
  expect(await jobsOf(db)).toMatchObject([{ failures: 1, problem: { text: "killed by SIGKILL" } }]);
  clock.advance(minuteMs - 1);
  await look(make());
  expect(done).toHaveLength(1);
  clock.advance(1);
  await look(make());
  clock.advance(2 * minuteMs);
  await look(make());
  clock.advance(4 * minuteMs);
  problem = undefined;
  await look(make());
  expect(await jobsOf(db)).toMatchObject([
    { failures: 0, problem: null, succeededAtMs: clock.nowMs },
  ]);
  // Each failure is told, and how many there were.
  expect(problems).toEqual([
    "pull north failed: killed by SIGKILL",
    "pull north failed, 2 times in a row: killed by SIGKILL",
    "pull north failed, 3 times in a row: killed by SIGKILL",
    "pull north succeeds again.",
  ]);
});

test("a job of a process that died is left to others after its lease", async () => {
  const { add, clock, db, done, look, make } = await scheduled(() => undefined);
  await add("north");
  await running(db, clock, () => new Promise(() => {})).look();
  clock.advance(leaseMs - 1);
  await look(make());
  expect(done).toEqual([]);
  clock.advance(1);
  await look(make());
  expect(done).toEqual(["pull north"]);
});

test("a paused job waits until it is resumed, and is then due at once", async () => {
  const { add, clock, db, done, look, make } = await scheduled(() => undefined);
  await add("north");
  await db.transaction((tx) => pauseJob(tx, "pull north", "person", clock.nowMs));
  clock.advance(24 * hourMs);
  await look(make());
  expect(done).toEqual([]);
  await db.transaction((tx) => pauseJob(tx, "pull north", null, clock.nowMs));
  await look(make());
  expect(done).toEqual(["pull north"]);
});

test("a job that the end of the service interrupts is no failure, and goes on elsewhere", async () => {
  const { add, clock, db, done, look, make } = await scheduled(() => undefined);
  await add("north");
  const stopping = running(
    db,
    clock,
    (signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve("killed"))),
  );
  await stopping.look();
  await stopping.close();
  expect(await jobsOf(db)).toMatchObject([{ failures: 0, problem: null }]);
  await look(make());
  expect(done).toEqual(["pull north"]);
});

test("a claim that the end of the service overtakes is given back", async () => {
  const { add, clock, db, done, look, make } = await scheduled(() => undefined);
  await add("north");
  const claiming = Promise.withResolvers<void>();
  const slow = {
    read: db.read,
    async transaction(work: Parameters<typeof db.transaction>[0]) {
      const claimed = await db.transaction(work);
      await claiming.promise;
      return claimed;
    },
  };
  const stopping = make(slow as typeof db);
  const looked = stopping.look();
  const closed = stopping.close();
  claiming.resolve();
  await Promise.all([looked, closed]);
  expect(done).toEqual([]);
  expect((await jobsOf(db))[0]?.nextAtMs).toBe(clock.nowMs);
  await look(make());
  expect(done).toEqual(["pull north"]);
});

test("a process that lost its job to another one leaves its times alone", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const { add, clock, db, make } = await scheduled(() => promise);
  await add("north");
  const lost = make();
  await lost.look();
  clock.advance(leaseMs);
  const other = (await jobsOf(db))[0];
  await claimJob(db, other as Job, clock.nowMs);
  const claimed = await jobsOf(db);
  resolve("killed");
  await lost.ended();
  expect(await jobsOf(db)).toEqual(claimed);
});

test("an outcome that cannot be read is told as a failure", async () => {
  const { add, db, ended, make } = await scheduled(() => undefined);
  await add("north");
  let reads = 0;
  const broken = {
    transaction: db.transaction,
    read: (work: Parameters<typeof db.read>[0]) =>
      reads++ === 0 ? db.read(work) : Promise.reject(new Error("gone")),
  };
  const schedule = make(broken as typeof db);
  await schedule.look();
  await schedule.ended();
  expect(ended[0]).toContain("could not be read");
});

test("a job that takes longer than its lease is left to the process that does it", async () => {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const { add, clock, done, ended, make } = await scheduled(() => promise);
  await add("north", dayMs);
  const [own, other] = [make(), make()];
  await own.look();
  for (let minutes = 0; minutes < 60; minutes += 10) {
    clock.advance(10 * minuteMs);
    await own.look();
    await other.look();
  }
  expect(done).toEqual(["pull north"]);
  resolve(undefined);
  await own.ended();
  expect(ended).toEqual([null]);
  await other.look();
  expect(done).toHaveLength(1);
});

test("how a job ended is told also where the store cannot be written", async () => {
  const { add, clock, db, done, ended, make } = await scheduled(() => "killed");
  await add("north");
  const broken = {
    read: db.read,
    transaction: (work: Parameters<typeof db.transaction>[0]) =>
      done.length === 0 ? db.transaction(work) : Promise.reject(new Error("full")),
  };
  const schedule = make(broken as typeof db);
  await schedule.look();
  await schedule.ended();
  expect(ended).toEqual(["killed"]);
  expect(done).toEqual(["pull north", "failed: Error: full"]);
  expect(clock.nowMs).toBeGreaterThan(0);
});
