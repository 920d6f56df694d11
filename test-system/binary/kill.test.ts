/** Acknowledged means kept: a server that is killed loses no animal that it answered 201 for. */
import { expect, test } from "bun:test";
import { Acknowledged } from "../../test/helpers/acknowledged.ts";
import { makeKey, rehome, roomy, serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import { isOnPostgres } from "../../test/helpers/store-under-test.ts";
import { until } from "../../test/helpers/until.ts";

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
    const before = acknowledged.created;
    // Each time a little further on, and never before the first: a busy machine takes its time for
    // that.
    await until(() => acknowledged.created > before + 150 * round);
    await server.stop("SIGKILL");
    isOver = true;
    expect((await creating).created).toBeGreaterThan(150 * round);
  }
  await using server = await serve(folder.path);
  await acknowledged.verified(server, key);
  expect(await server.stop()).toBe(0);
}, 120_000);

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
    await until(() => acknowledged.created > 200);
    const acknowledgedBefore = acknowledged.created;
    // While it is written: the backup is one moment of it.
    const file = `${backups.path}/live.db`;
    const live = await rehome(["backup", file, "--data", folder.path, "--json"]);
    expect(live.stderr).toBe("");
    await server.stop("SIGKILL");
    isOver = true;
    await creating;
    const after = await command([
      "backup",
      `${backups.path}/after.db`,
      "--data",
      folder.path,
      "--json",
    ]);
    expect(after.exitCode).toBe(0);
    const animals = (JSON.parse(after.stdout) as { animals: number }).animals;
    expect(animals).toBeGreaterThanOrEqual(acknowledged.animals.size);
    const { animals: backedUp } = JSON.parse(live.stdout) as { animals: number };
    expect(backedUp).toBeGreaterThanOrEqual(acknowledgedBefore);
    expect(backedUp).toBeLessThanOrEqual(animals);
  },
  120_000,
);
