/** Backups of the service: each is whole, or a monitor hears that it is not. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeKey, metricsOf, serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { childrenOf, kill } from "../../test/helpers/family.ts";
import { testDatabase } from "../../test/helpers/postgres.ts";
import { command } from "../../test/helpers/command.ts";
import { startS3 } from "../../test/helpers/s3.ts";
import { fill, smallDisk } from "../../test/helpers/small-disk.ts";
import { until } from "../../test/helpers/ask.ts";

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

interface Around {
  readonly meanwhile?: (pid: number) => Promise<void>;
  /** The clock was years ahead when the last one was made. */
  readonly isClockBack?: boolean;
}

/** Starts a service whose backup is due, until the monitor is told how it ended, or cannot be. */
async function due(
  settings: Record<string, string>,
  { meanwhile, isClockBack = false }: Around = {},
) {
  {
    using db = new Database(join(data, "rehome.db"));
    const atMs = isClockBack ? Date.now() + 10 * 365 * 86_400_000 : 0;
    db.run("UPDATE schedule SET next_at_ms = ?1, tried_at_ms = ?1 WHERE kind = 'backup'", [atMs]);
  }
  told.length = 0;
  const own = { REHOME_BACKUP_PING: ping, REHOME_METRICS: "127.0.0.1:0" };
  const env = { ...s3.env, ...own, ...settings };
  await using server = await serve(data, [], { env });
  await meanwhile?.(server.pid);
  await until(() => told.length > 0 || server.stderr().includes("did not take the news"), 60_000);
  using db = new Database(join(data, "rehome.db"), { readonly: true });
  const job = db.query<Row, []>("SELECT failures, problem, next_at_ms FROM schedule").get();
  const shown = await (await fetch(await metricsOf(server))).text();
  const failures = Number(/^rehome_backup_failures (\d+)/m.exec(shown)?.[1]);
  await server.stop();
  return { told: [...told], job, failures, log: server.stderr() };
}

const backups = async () => {
  s3.at.fault = undefined;
  const { stdout, stderr } = await command(["backup", "list", s3.address, "--json"], {
    env: s3.env,
  });
  expect(stderr).toBe("");
  return (JSON.parse(stdout) as { file: string }[]).map(({ file }) => file);
};

test("of a service go to a bucket, and what cannot be removed or read there is told", async () => {
  const settings = { REHOME_BACKUP_TO: s3.address, REHOME_BACKUP_KEEP: "2" };
  const good = { told: ["/uuid"], job: { failures: 0, problem: null } };
  expect(await due(settings)).toMatchObject(good);
  const before = await backups();
  expect(before).toHaveLength(1);

  expect(await due(settings)).toMatchObject(good);
  s3.at.fault = ({ method }) => (method === "DELETE" ? 403 : undefined);
  const kept = await due(settings);
  expect(kept).toMatchObject({ told: ["/uuid"], job: { failures: 0 } });
  expect(kept.job?.problem).toContain("cannot be removed");
  s3.at.fault = ({ method, url }) => (method === "GET" && url?.includes(".db") ? 403 : undefined);
  const unread = await due(settings);
  expect(unread).toMatchObject({ told: ["/uuid/fail"], job: { failures: 1 } });
  expect(unread.job?.problem).toContain("was sent, but");
  s3.at.fault = undefined;
  expect(await due(settings)).toMatchObject(good);
  const after = await backups();
  expect(after).toHaveLength(2);
  expect(after).not.toContain(before[0] ?? "");
  for (const file of after) {
    expect(await command(["backup", "verify", file], { env: s3.env })).toMatchObject({
      exitCode: 0,
    });
  }
});

/** Ends the child that makes the backup in the middle of what it sends. */
async function killed(pid: number): Promise<void> {
  await until(() => s3.at.hanging > 0, 60_000);
  for (const child of childrenOf({ pid })) kill(child);
}

const toBucket = () => ({ REHOME_BACKUP_TO: s3.address, REHOME_BACKUP_KEEP: "99999" });
const nobody = "http://127.0.0.1:1/uuid";
/** What fails, beside what a place may answer, which backup-places.test.ts has. */
const faults: Record<string, () => ReturnType<typeof due>> = {
  "a child that is killed": () => {
    s3.at.fault = ({ method }) => (method === "PUT" ? "hang" : undefined);
    return due(toBucket(), { meanwhile: killed });
  },
  "a clock that was ahead": () => {
    s3.at.fault = () => 403;
    return due(toBucket(), { isClockBack: true });
  },
  "a monitor that cannot be reached": () => {
    s3.at.fault = () => 403;
    return due({ ...toBucket(), REHOME_BACKUP_PING: nobody });
  },
  "a full disk": async () => {
    using disk = smallDisk(1);
    const place = join(disk.path, "backups");
    mkdirSync(place);
    using _ballast = fill(disk.path);
    const found = await due({ REHOME_BACKUP_TO: place });
    expect(readdirSync(place)).toEqual([]);
    return found;
  },
};

test.each(Object.entries(faults))(
  "that fail are told by monitor, doctor and metrics, and none that is broken is there: %s",
  async (what, fail) => {
    const { told, job, failures, log } = await fail();
    expect(told).toEqual(what.startsWith("a monitor") ? [] : ["/uuid/fail"]);
    expect([job?.problem, failures]).toEqual([expect.any(String), job?.failures]);
    expect(failures).toBeGreaterThan(0);
    expect(job?.next_at_ms).toBeLessThan(Date.now() + 25 * 3_600_000);
    expect(log).not.toContain(s3.env.AWS_SECRET_ACCESS_KEY);
    const args = ["doctor", "--data", data, "--port", "1"];
    const { stdout } = await command(args, { env: { ...s3.env, ...toBucket() } });
    expect(stdout).toMatch(/^(?:warn|fail) +backup +the service failed to make one/m);
    for (const file of await backups()) {
      expect((await command(["backup", "verify", file], { env: s3.env })).exitCode).toBe(0);
    }
    expect(await due(toBucket())).toMatchObject({ told: ["/uuid"], job: { failures: 0 } });
  },
);

test("go to a folder that is made, and one that cannot be is told", async () => {
  const place = join(folder.path, "backups");
  expect(await due({ REHOME_BACKUP_TO: place })).toMatchObject({ told: ["/uuid"] });
  const dated = (name: string) => name.endsWith(".db");
  expect(readdirSync(place).filter(dated)).toHaveLength(1);
  const failed = await due({ REHOME_BACKUP_TO: join(folder.path, "missing/backups") });
  expect(failed).toMatchObject({ told: ["/uuid/fail"] });
  expect(failed.job?.problem).toContain("its folder does not exist");
  // Its disk is not mounted: a folder in its place would fill another one.
  const unmounted = async () => {
    const { told, job } = await due({ REHOME_BACKUP_TO: place });
    expect(told).toEqual(["/uuid/fail"]);
    expect(job?.problem).toContain("is not the same folder now");
  };
  rmSync(place, { recursive: true });
  await unmounted();
  expect(existsSync(place)).toBe(false);
  mkdirSync(place);
  await command(["backup", join(folder.path, "elsewhere.db"), "--data", data]);
  await unmounted();
  expect(readdirSync(place)).toEqual([]);
  // Somebody agrees to the folder as it is.
  const env = { REHOME_BACKUP_TO: place };
  expect(await command(["backup", "--data", data], { env })).toMatchObject({ exitCode: 0 });
  expect(await due({ REHOME_BACKUP_TO: place })).toMatchObject({ told: ["/uuid"] });
});

test("are not made of a database, which is served all the same, and said in one line", async () => {
  await using database = await testDatabase();
  const place = join(folder.path, "none");
  const env = { REHOME_STORE: database.url, REHOME_BACKUP_TO: place };
  await using server = await serve(undefined, [], { env });
  await until(() => server.stderr().includes("pg_dump"));
  await server.stop();
  expect(server.stderr().match(/.*--backup-to.*/g)).toHaveLength(1);
  expect(existsSync(place)).toBe(false);
});
