/** Backups of the service: each is whole, or a monitor hears that it is not. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeKey, rehome, serve, temporaryFolder } from "../helpers/binary.ts";
import { childrenOf, kill } from "../helpers/family.ts";
import { startS3 } from "../helpers/s3.ts";
import { until } from "../helpers/until.ts";

let s3: Awaited<ReturnType<typeof startS3>>;
const folder = temporaryFolder();
const data = join(folder.path, "data");
const told: string[] = [];
const monitor = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch(request) {
    told.push(new URL(request.url).pathname);
    return new Response("OK");
  },
});
const ping = `http://127.0.0.1:${monitor.port}/uuid`;
beforeAll(async () => {
  s3 = await startS3();
  await makeKey(data, "--plan", "free");
}, 180_000);
afterAll(async () => {
  await monitor.stop(true);
  await s3[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

interface Row {
  readonly failures: number;
  readonly problem: string | null;
  readonly next_at_ms: number;
}

/** Starts a service whose backup is due, until the monitor is told how it ended. */
async function due(settings: Record<string, string>, meanwhile?: (pid: number) => Promise<void>) {
  if (existsSync(join(data, "rehome.db"))) {
    using db = new Database(join(data, "rehome.db"));
    db.run("UPDATE schedule SET next_at_ms = 0 WHERE kind = 'backup'");
  }
  told.length = 0;
  const env = { ...s3.env, REHOME_BACKUP_PING: ping, ...settings };
  await using server = await serve(data, [], { env });
  await meanwhile?.(server.pid);
  await until(() => told.length > 0, 60_000);
  using db = new Database(join(data, "rehome.db"), { readonly: true });
  const job = db.query<Row, []>("SELECT failures, problem, next_at_ms FROM schedule").get();
  return { told: [...told], job, log: server.stderr() };
}

const backups = async () => {
  s3.at.fault = undefined;
  const { stdout } = await rehome(["backup", "list", s3.address, "--json"], { env: s3.env });
  return (JSON.parse(stdout) as { file: string }[]).map(({ file }) => file);
};

test("of a service go to a bucket, and what goes wrong is told and leaves none there", async () => {
  const settings = { REHOME_BACKUP_TO: s3.address, REHOME_BACKUP_KEEP: "2" };
  const good = { told: ["/uuid"], job: { failures: 0, problem: null } };
  expect(await due(settings)).toMatchObject(good);
  const before = await backups();
  expect(before).toHaveLength(1);

  const failing = async (what: string, meanwhile?: (pid: number) => Promise<void>) => {
    const { told, job, log } = await due(settings, meanwhile);
    expect([what, told]).toEqual([what, ["/uuid/fail"]]);
    expect(job?.failures).toBeGreaterThan(0);
    expect(log).not.toContain(s3.env.AWS_SECRET_ACCESS_KEY);
    expect([what, await backups()]).toEqual([what, before]);
    expect(readdirSync(data).filter((name) => name.endsWith(".partial"))).toHaveLength(
      what === "killed" ? 1 : 0,
    );
    return job?.problem;
  };
  s3.at.fault = () => 403;
  expect(await failing("forbidden")).toContain("AccessDenied");
  s3.at.fault = () => "hang up";
  expect(await failing("no network")).toContain("cannot be");
  // The upload began, and never ends.
  s3.at.fault = ({ method }) => (method === "PUT" || method === "POST" ? "hang" : undefined);
  const killChildren = async (pid: number) => {
    await until(() => s3.at.hanging > 0, 60_000);
    for (const child of childrenOf({ pid })) kill(child);
  };
  expect(await failing("killed", killChildren)).toContain("SIGKILL");

  expect(await due(settings)).toMatchObject(good);
  s3.at.fault = ({ method }) => (method === "DELETE" ? 403 : undefined);
  const kept = await due(settings);
  expect(kept).toMatchObject({ told: ["/uuid"], job: { failures: 0 } });
  expect(kept.job?.problem).toContain("cannot be removed");
  s3.at.fault = ({ method, url }) => (method === "GET" && url?.includes(".db") ? 403 : undefined);
  const unread = await due(settings);
  expect(unread).toMatchObject({ told: ["/uuid/fail"], job: { failures: 1 } });
  expect(unread.job?.problem).toContain("was sent, but");
  expect(unread.job?.next_at_ms).toBeGreaterThan(Date.now() + 3_600_000);
  s3.at.fault = undefined;
  expect(await due(settings)).toMatchObject(good);
  const after = await backups();
  expect(after).toHaveLength(2);
  expect(after).not.toContain(before[0] ?? "");
  for (const file of after) {
    expect(await rehome(["backup", "verify", file], { env: s3.env })).toMatchObject({
      exitCode: 0,
    });
  }
}, 240_000);

test("are looked at by the doctor: a failure, and a backup that is gone, are no ok", async () => {
  const env = { ...s3.env, REHOME_BACKUP_TO: s3.address };
  const found = async () => {
    const { stdout } = await rehome(["doctor", "--data", data, "--port", "1", "--json"], { env });
    const { checks } = JSON.parse(stdout) as { checks: { check: string; state: string }[] };
    return checks.find(({ check }) => check === "backup");
  };
  await due({ REHOME_BACKUP_TO: s3.address, REHOME_BACKUP_KEEP: "1" });
  expect(await found()).toMatchObject({ state: "ok", detail: expect.stringContaining("s3://") });
  using db = new Database(join(data, "rehome.db"));
  db.run("UPDATE schedule SET failures = 1, problem = 'The disk is full.'");
  expect(await found()).toMatchObject({
    state: "warn",
    detail: "the service failed to make one: The disk is full",
  });
  db.run("UPDATE schedule SET succeeded_at_ms = ?", [Date.now() - 96 * 3_600_000]);
  expect(await found()).toMatchObject({ state: "fail" });
  db.run("UPDATE schedule SET succeeded_at_ms = NULL, failures = 20");
  expect(await found()).toMatchObject({ state: "fail" });
  db.run("UPDATE schedule SET failures = 0, problem = NULL");
  s3.at.fault = () => 403;
  expect(await found()).toMatchObject({ state: "warn", detail: expect.stringContaining("listed") });
  s3.at.fault = undefined;
  rmSync(s3.directory, { recursive: true });
  mkdirSync(join(s3.directory, "backups"), { recursive: true });
  expect(await found()).toMatchObject({ state: "warn", detail: expect.stringContaining("not at") });
}, 120_000);

test("go to a folder that is made, and one that cannot be is told", async () => {
  const place = join(folder.path, "backups");
  expect(await due({ REHOME_BACKUP_TO: place })).toMatchObject({ told: ["/uuid"] });
  expect(readdirSync(place)).toHaveLength(1);
  const failed = await due({ REHOME_BACKUP_TO: join(folder.path, "missing/backups") });
  expect(failed).toMatchObject({ told: ["/uuid/fail"] });
  expect(failed.job?.problem).toContain("its folder does not exist");
  // Its disk is not mounted: a folder in its place would fill another one.
  rmSync(place, { recursive: true });
  const unmounted = await due({ REHOME_BACKUP_TO: place });
  expect(unmounted).toMatchObject({ told: ["/uuid/fail"] });
  expect(unmounted.job?.problem).toContain("has the last backup, and is not there");
  expect(existsSync(place)).toBe(false);
}, 120_000);

test("are left alone by a server without their setting, and are not for bad settings", async () => {
  using db = new Database(join(data, "rehome.db"));
  db.run("UPDATE schedule SET next_at_ms = 0, tried_at_ms = NULL, failures = 9");
  const before = db.query("SELECT * FROM schedule").all();
  expect(before).toHaveLength(1);
  await using _server = await serve(data, [], { env: s3.env });
  const { stdout } = await rehome(["doctor", "--data", data, "--port", "1", "--json"]);
  expect(stdout).not.toContain("failed to make");
  expect(db.query("SELECT * FROM schedule").all()).toEqual(before);
  const refused = async (env: Record<string, string>) => {
    const result = await rehome(["serve", "--port", "0"], { env });
    expect(result).toMatchObject({ exitCode: 2, stdout: "" });
    return result.stderr;
  };
  const store = { REHOME_STORE: "postgres://kim@127.0.0.1:1/x", REHOME_BACKUP_TO: "/tmp" };
  expect(await refused(store)).toContain("pg_dump --format=custom");
  const bucket = { REHOME_DATA: data, REHOME_BACKUP_TO: s3.address };
  expect(await refused(bucket)).toContain("no credentials");
  const file = { REHOME_BACKUP_TO: `${s3.address}/rehome.db` };
  expect(await refused({ ...bucket, ...s3.env, ...file })).toContain("is one file");
  expect(await refused({ REHOME_DATA: data, REHOME_BACKUP_TO: join(data, "rehome.db") })).toContain(
    "is one file",
  );
  const mistyped = { REHOME_BACKUP_RECIPIENT: `age1${"q".repeat(58)}` };
  expect(await refused({ ...bucket, ...s3.env, ...mistyped })).toContain("not a public key");
  expect(await refused({ ...bucket, ...s3.env, REHOME_BACKUP_EVERY: "5m" })).toContain("15m");
  expect(await refused({ ...bucket, ...s3.env, REHOME_BACKUP_RECIPIENT: "kim" })).toContain("age1");
});
