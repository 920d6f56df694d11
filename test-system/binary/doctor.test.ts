/** `rehome doctor` beside a server, and on another disk. store-copy.md has PostgreSQL. */
import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { doctorSchema } from "../../src/features/operate/doctor/command.ts";
import { rehome, serve, served, temporaryFolder } from "../../test/helpers/binary.ts";
import { documentedJson } from "../../test/helpers/json-contract.ts";
import { command } from "../../test/helpers/command.ts";
import { until } from "../../test/helpers/ask.ts";

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

test("beside its server it has no trouble but a missing backup, and none after it", async () => {
  const [cert, key] = ["first.crt", "first.key"].map((name) =>
    join(import.meta.dir, "../../test/fixtures/tls", name),
  ) as [string, string];
  await using server = await served(["--tls-cert", cert, "--tls-key", key]);
  const { port } = new URL(server.origin);
  const doctor = ["doctor", "--data", server.data, "--port", port, "--json"];
  const { checks } = JSON.parse((await rehome(doctor)).stdout) as Report;
  const wrong = checks.filter(({ state }) => state !== "ok");
  expect(wrong.map(({ check }) => check)).toEqual(["backup"]);
  using backups = temporaryFolder();
  const backup = ["backup", join(backups.path, "rehome.db"), "--data", server.data];
  expect((await command(backup)).exitCode).toBe(0);
  expect(JSON.parse((await rehome(doctor)).stdout)).toMatchObject({ state: "ok" });
});

test("a file system that keeps no permissions is warned of, by the start too", async () => {
  using folder = temporaryFolder();
  using open = openDisk(folder.path);
  if (open === undefined) return;
  await using server = await serve(open.path);
  const words = "(FUSE) keeps no permissions. Keep the data on another disk";
  await until(() => server.stderr().includes(words));
  const { stdout } = await command(["doctor", "--data", open.path, "--port", "1", "--json"]);
  const { checks } = documentedJson(doctorSchema, stdout) as Report;
  expect(checks.find(({ check }) => check === "permissions")).toMatchObject({
    state: "warn",
    detail: expect.stringMatching(/^others can read \S+: FUSE keeps no permissions$/),
    advice: expect.stringContaining("umask=077"),
  });
});
