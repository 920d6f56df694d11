/** Backups of the service: each is whole, or a monitor hears that it is not. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeKey, metricsOf, serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { childrenOf, kill } from "../../test/helpers/family.ts";
import { testDatabase } from "../../test/helpers/postgres.ts";
import { random as randomOf } from "../../scripts/random.ts";
import { command } from "../../test/helpers/command.ts";
import { type S3Fault, startS3 } from "../../test/helpers/s3.ts";
import { fill, smallDisk } from "../../test/helpers/small-disk.ts";
import { until } from "../../test/helpers/until.ts";

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

/** What the doctor says of backups. */
async function doctor(settings: Record<string, string>) {
  const env = { ...s3.env, ...settings };
  const { stdout } = await command(["doctor", "--data", data, "--port", "1", "--json"], { env });
  const { checks } = JSON.parse(stdout) as {
    checks: { check: string; state: string; detail: string }[];
  };
  return checks.find(({ check }) => check === "backup");
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
}, 240_000);

/** How many failures: `BACKUP_ROUNDS=100 bun test` makes the long run. */
const rounds = Number(process.env["BACKUP_ROUNDS"] ?? 9);

test("that fail are told by monitor, doctor and metrics, and none that is broken is there", async () => {
  const random = randomOf(38);
  const settings = { REHOME_BACKUP_TO: s3.address, REHOME_BACKUP_KEEP: "99999" };
  using disk = smallDisk(1);
  if (disk === undefined)
    process.stderr.write("NOT RUN: a full disk needs the right to mount one\n");
  // One of the first requests, and all after it.
  const from = (fault: S3Fault) => {
    let count = Math.floor(random() * 3);
    s3.at.fault = () => (count-- > 0 ? undefined : fault);
  };
  const onUpload = (fault: S3Fault) => {
    s3.at.fault = ({ method }) => (method === "PUT" || method === "POST" ? fault : undefined);
  };
  const killed = async (pid: number) => {
    const before = s3.at.hanging;
    await until(() => s3.at.hanging > before, 60_000);
    await Bun.sleep(random() * 20);
    for (const child of childrenOf({ pid })) kill(child);
  };
  const faults: Record<string, () => ReturnType<typeof due>> = {
    forbidden: () => (from(403), due(settings)),
    "server fails": () => (from(500), due(settings)),
    "no network": () => (from("hang up"), due(settings)),
    "wrong secret": () => due({ ...settings, AWS_SECRET_ACCESS_KEY: "wrong" }),
    "cut upload": () => (onUpload("cut"), due(settings)),
    "killed child": () => (onUpload("hang"), due(settings, { meanwhile: killed })),
    "clock was ahead": () => (from(403), due(settings, { isClockBack: true })),
    "monitor unreachable": () => (
      from(403),
      due({ ...settings, REHOME_BACKUP_PING: "http://127.0.0.1:1/uuid" })
    ),
    ...(disk && {
      "full disk": async () => {
        const place = join(disk.path, "backups");
        mkdirSync(place, { recursive: true });
        using _ballast = fill(disk.path);
        return await due({ REHOME_BACKUP_TO: place });
      },
    }),
  };
  const names = Object.keys(faults);
  const good = new Set<string>();
  /** What is there can be restored: also one that was sent, and could not be read back. */
  const verifyAll = async () => {
    for (const file of (await backups()).filter((each) => !good.has(each))) {
      const verified = await command(["backup", "verify", file], { env: s3.env });
      expect(verified).toMatchObject({ exitCode: 0 });
      good.add(file);
    }
  };
  for (let round = 0; round < rounds; round += 1) {
    const what = names[round] ?? names[Math.floor(random() * names.length)] ?? "";
    const { told, job, failures, log } = await (faults[what] as () => ReturnType<typeof due>)();
    const heard = what === "monitor unreachable" ? [] : ["/uuid/fail"];
    expect([round, what, told]).toEqual([round, what, heard]);
    expect([what, job?.problem, failures]).toEqual([what, expect.any(String), job?.failures]);
    expect(failures).toBeGreaterThan(0);
    expect(job?.next_at_ms).toBeLessThan(Date.now() + 25 * 3_600_000);
    expect(log).not.toContain(s3.env.AWS_SECRET_ACCESS_KEY);
    s3.at.fault = undefined;
    expect(await doctor(settings)).toMatchObject({ state: expect.stringMatching(/warn|fail/) });
    await verifyAll();
    if (disk !== undefined && existsSync(join(disk.path, "backups"))) {
      expect(readdirSync(join(disk.path, "backups"))).toEqual([]);
    }
    if (round % 4 !== 3) continue;
    expect(await due(settings)).toMatchObject({ told: ["/uuid"], job: { failures: 0 } });
    const before = good.size;
    await verifyAll();
    expect(good.size).toBe(before + 1);
  }
}, 900_000);

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
}, 120_000);

test("are not made of a database, which is served all the same, and said in one line", async () => {
  await using database = await testDatabase();
  const place = join(folder.path, "none");
  const env = { REHOME_STORE: database.url, REHOME_BACKUP_TO: place };
  await using server = await serve(undefined, [], { env });
  await until(() => server.stderr().includes("pg_dump"));
  await server.stop();
  expect(server.stderr().match(/.*--backup-to.*/g)).toHaveLength(1);
  expect(existsSync(place)).toBe(false);
}, 120_000);
