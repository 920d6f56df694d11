/** `rehome doctor` beside a server, on other disks, as another user, and on PostgreSQL. */
import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { doctorSchema } from "../../src/features/operate/doctor/command.ts";
import { makeKey, rehome, serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { documentedJson } from "../../test/helpers/json-contract.ts";
import { hookTimeoutMs, testDatabase } from "../../test/helpers/postgres.ts";
import { command } from "../../test/helpers/command.ts";
import { smallDisk } from "../../test/helpers/small-disk.ts";
import { until } from "../../test/helpers/until.ts";

/** A disk whose files all have one mode, as exFAT has it; undefined where it cannot be mounted. */
function openDisk(folder: string) {
  const [from, to] = ["from", "to"].map((name) => join(folder, name)) as [string, string];
  for (const each of [from, to]) mkdirSync(each);
  const command = ["bindfs", "--chmod-deny", "--perms=0777", from, to];
  if (Bun.which("bindfs") === null || !Bun.spawnSync(command).success) return undefined;
  return { path: to, [Symbol.dispose]: () => void Bun.spawnSync(["umount", "--lazy", to]) };
}

interface Report {
  readonly state: string;
  readonly checks: { check: string; state: string; detail: string; advice: string | null }[];
}

const of = (stdout: string, check: string) =>
  (documentedJson(doctorSchema, stdout) as Report).checks.find((each) => each.check === check);

async function examined(data: string, port = "1") {
  const { stdout } = await command(["doctor", "--data", data, "--port", port, "--json"]);
  return (check: string) => of(stdout, check);
}

test("beside its server it has no trouble but a missing backup, and none after it", async () => {
  using folder = temporaryFolder();
  const [cert, key] = ["first.crt", "first.key"].map((name) =>
    join(import.meta.dir, "../../test/fixtures/tls", name),
  ) as [string, string];
  await using server = await serve(folder.path, ["--tls-cert", cert, "--tls-key", key]);
  await makeKey(folder.path);
  const { port } = new URL(server.origin);
  const doctor = ["doctor", "--data", folder.path, "--port", port, "--json"];
  const { checks } = JSON.parse((await rehome(doctor)).stdout) as Report;
  const wrong = checks.filter(({ state }) => state !== "ok");
  expect(wrong.map(({ check }) => check)).toEqual(["backup"]);
  using backups = temporaryFolder();
  const backup = ["backup", join(backups.path, "rehome.db"), "--data", folder.path];
  expect((await command(backup)).exitCode).toBe(0);
  expect(JSON.parse((await rehome(doctor)).stdout)).toMatchObject({ state: "ok" });
});

test("a disk that is read-only fails as serve does, and nobody's rights are blamed", async () => {
  using disk = smallDisk(8);
  if (disk === undefined) return;
  await makeKey(disk.path);
  Bun.spawnSync(["mount", "-o", "remount,ro", disk.path]);
  const found = (await examined(disk.path))("data folder");
  expect(found).toMatchObject({ state: "fail", detail: expect.stringContaining("read-only") });
  expect(found?.advice).toStartWith("Mount its disk for writing, or");
  expect((await command(["serve", "--data", disk.path])).stderr).toContain(found?.advice ?? "no");
});

test("a file system that keeps no permissions is warned of, by the start too", async () => {
  using folder = temporaryFolder();
  using open = openDisk(folder.path);
  if (open === undefined) return;
  await using server = await serve(open.path);
  const words = "(FUSE) keeps no permissions. Keep the data on another disk";
  await until(() => server.stderr().includes(words));
  expect((await examined(open.path))("permissions")).toMatchObject({
    state: "warn",
    detail: expect.stringMatching(/^others can read \S+: FUSE keeps no permissions$/),
    advice: expect.stringContaining("umask=077"),
  });
});

async function onDatabase(url: string) {
  const env = { REHOME_STORE: url };
  const result = await command(["doctor", "--port", "1", "--json"], { env });
  const { password } = new URL(url);
  expect(result.stdout + result.stderr).not.toContain(password);
  return of(result.stdout, "database");
}

test(
  "a PostgreSQL database that is empty is left empty, and one in use is well",
  async () => {
    await using database = await testDatabase();
    expect(await onDatabase(database.url)).toMatchObject({
      state: "warn",
      detail: expect.stringMatching(/\(REHOME_STORE\), PostgreSQL .*, schema lacks 0000_initial/),
    });
    const [before] = await database.sql`SELECT to_regnamespace('rehome') IS NULL AS "isEmpty"`;
    expect(before).toEqual({ isEmpty: true });
    const env = { REHOME_STORE: database.url };
    expect(await command(["keys", "list"], { env })).toMatchObject({ exitCode: 0 });
    expect(await onDatabase(database.url)).toMatchObject({
      state: "ok",
      detail: expect.stringContaining("schema up to date"),
    });
  },
  hookTimeoutMs,
);
