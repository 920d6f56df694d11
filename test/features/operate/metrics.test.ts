/** What Prometheus reads of the work of a server. */
import { expect, test } from "bun:test";
import { dayMs, hourMs } from "../../../src/domain/clock.ts";
import { Metrics } from "../../../src/features/operate/metrics/metrics.ts";
import type { AnsweredRequest } from "../../../src/http/handler.ts";
import {
  finishJob,
  type Job,
  type JobOutcome,
  jobsOf,
  scheduleJob,
  setJob,
} from "../../../src/features/schedule/jobs.ts";
import { TestClock } from "../../helpers/app.ts";
import { openTestStore } from "../../helpers/store-under-test.ts";

/** The value of a metric, by its name and labels. */
const valueIn = (text: string, name: string) =>
  Number(
    text
      .split("\n")
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length),
  );

test("time is in seconds, and what is read is not counted twice", async () => {
  const metrics = new Metrics(undefined, undefined, { droppedTotal: 3 });
  const context = { route: "/v1/pets" } as AnsweredRequest["context"];
  metrics.answered({ context, method: "POST", status: 201, bytes: 1, durationMs: 30 });
  metrics.storeObserver.onCommit?.({ batchSize: 4, commitMs: 20 });
  await metrics.registry.metrics();
  const body = await metrics.registry.metrics();
  expect(body).toContain('rehome_request_duration_seconds_sum{route="/v1/pets"} 0.03\n');
  expect(body).toContain("rehome_writer_commit_seconds_sum 0.02\n");
  expect(body).toContain("rehome_log_lines_dropped_total 3\n");
  const { user, system } = process.cpuUsage();
  expect(valueIn(body, "process_cpu_seconds_total")).toBeWithin(0.01, (user + system) / 1e6);
  metrics.close();
});

test("the schedule is shown: when each job last succeeded, and how often it failed since", async () => {
  const clock = new TestClock();
  const { db } = await openTestStore({ clock: clock.read });
  const nowMs = clock.nowMs;
  await db.transaction(async (tx) => {
    for (const target of ["north", "south", "east"]) {
      await scheduleJob(tx, { kind: "pull", target, everyMs: hourMs, nextAtMs: nowMs });
    }
    await scheduleJob(tx, { kind: "backup", target: "", everyMs: dayMs, nextAtMs: nowMs });
    await setJob(tx, "pull east", { paused: "person" });
  });
  const end = async (name: string, outcome: JobOutcome) => {
    const job = (await jobsOf(db)).find((each) => each.name === name) as Job;
    await db.transaction((tx) => finishJob(tx, job, outcome, nowMs));
  };
  await end("pull north", { ok: true });
  await end("pull south", { ok: false, problem: { text: "gone" } });
  await end("backup", { ok: false, problem: { text: "full" } });
  await end("backup", { ok: false, problem: { text: "full" } });
  const metrics = new Metrics("/", undefined, { droppedTotal: 0 });
  metrics.watchSchedule(db, true);
  const body = await metrics.registry.metrics();
  const values = {
    'rehome_source_last_success_timestamp_seconds{source="north"}': nowMs / 1000,
    'rehome_source_last_success_timestamp_seconds{source="south"}': 0,
    'rehome_source_failures{source="south"}': 1,
    rehome_backup_last_success_timestamp_seconds: 0,
    rehome_backup_failures: 2,
    rehome_certificate_expiry_timestamp_seconds: 0,
  };
  for (const [name, value] of Object.entries(values)) {
    expect([name, valueIn(body, name)]).toEqual([name, value]);
  }
  expect(body).not.toContain("east");
  // A certificate that is being written, and a data folder that is gone.
  const broken = new Metrics("/nowhere", import.meta.path, { droppedTotal: 0 });
  const rest = await broken.registry.metrics();
  expect(valueIn(rest, "rehome_certificate_expiry_timestamp_seconds")).toBe(0);
  expect(rest).not.toMatch(/^rehome_disk_free_bytes /m);
  broken.close();
  expect(valueIn(body, "rehome_disk_free_bytes")).toBeGreaterThan(0);
  metrics.close();
});
