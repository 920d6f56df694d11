/** Acknowledged means kept: a server that is killed loses no animal that it answered 201 for. */
import { expect, test } from "bun:test";
import { Acknowledged } from "../helpers/acknowledged.ts";
import { makeKey, rehome, roomy, serve, temporaryFolder } from "../helpers/binary.ts";
import { isOnPostgres } from "../helpers/store-under-test.ts";

const rounds = 6;
const writers = 32;

test(`${rounds} kills under ${writers} writers lose nothing and repeat no id`, async () => {
  using folder = temporaryFolder();
  const { key } = await makeKey(folder.path, ...roomy);
  const acknowledged = new Acknowledged();
  for (let round = 0; round < rounds; round += 1) {
    await using server = await serve(folder.path);
    let isOver = false;
    const creating = acknowledged.create(server, key, writers, () => isOver);
    // Connections to a database are opened first.
    await Bun.sleep((isOnPostgres ? 500 : 150) + round * 40);
    await server.stop("SIGKILL");
    isOver = true;
    expect((await creating).created).toBeGreaterThan(0);
  }
  await using server = await serve(folder.path);
  await acknowledged.verify(server, key);
  expect(await server.stop()).toBe(0);
}, 60_000);

test.skipIf(isOnPostgres)(
  "a killed server leaves a catalogue that is whole",
  async () => {
    using folder = temporaryFolder();
    using backups = temporaryFolder();
    const { key } = await makeKey(folder.path, ...roomy);
    const acknowledged = new Acknowledged();
    await using server = await serve(folder.path);
    let isOver = false;
    const creating = acknowledged.create(server, key, writers, () => isOver);
    await Bun.sleep(200);
    // While it is written: the backup is one moment of it.
    const file = `${backups.path}/live.db`;
    const live = await rehome(["backup", file, "--data", folder.path, "--json"]);
    expect(live.stderr).toBe("");
    await server.stop("SIGKILL");
    isOver = true;
    await creating;
    const after = await rehome([
      "backup",
      `${backups.path}/after.db`,
      "--data",
      folder.path,
      "--json",
    ]);
    expect(after.exitCode).toBe(0);
    const animals = (JSON.parse(after.stdout) as { animals: number }).animals;
    expect(animals).toBeGreaterThanOrEqual(acknowledged.animals.size);
    expect((JSON.parse(live.stdout) as { animals: number }).animals).toBeLessThanOrEqual(animals);
  },
  30_000,
);
