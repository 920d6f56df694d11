/** What is killed: a server loses no animal that it answered 201 for, and a backup leaves nothing. */
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import {
  begun,
  makeKey,
  rehome,
  roomy,
  serve,
  temporaryFolder,
} from "../../test/helpers/binary.ts";
import { Acknowledged } from "../../test/helpers/acknowledged.ts";
import { command } from "../../test/helpers/command.ts";
import { isOnPostgres } from "../../test/helpers/store-under-test.ts";
import { until } from "../../test/helpers/until.ts";
import { random } from "../../scripts/random.ts";
import { killUnderLoad } from "../soak/kills.ts";

test("kills lose nothing, repeat no id, and admit no key above its limit", async () => {
  const { acknowledged, victims } = await killUnderLoad({ kills: 6, next: random(1) });
  expect([...victims.keys()].toSorted()).toEqual(["server", "server at its start"]);
  expect(acknowledged).toBeGreaterThan(500);
}, 120_000);

test.skipIf(isOnPostgres)(
  "a backup of a running server is one moment of it",
  async () => {
    using folder = temporaryFolder();
    const { key } = await makeKey(folder.path, ...roomy);
    const acknowledged = new Acknowledged();
    await using server = await serve(folder.path);
    let isOver = false;
    const creating = acknowledged.create(server, key, 32, () => isOver);
    await until(() => acknowledged.created > 200);
    const before = acknowledged.created;
    const backup = await rehome(["backup", "live", "--data", folder.path, "--json"], {
      cwd: folder.path,
    });
    isOver = true;
    await creating;
    const { animals } = JSON.parse(backup.stdout) as { animals: number };
    expect(animals).toBeWithin(before, acknowledged.animals.size + 1);
  },
  120_000,
);

test.skipIf(isOnPostgres)(
  "a backup that is killed at any moment leaves nothing for ever",
  async () => {
    using at = temporaryFolder();
    const [data, folder] = [join(at.path, "data"), join(at.path, "backups")];
    await makeKey(data);
    const next = random(9);
    mkdirSync(folder);
    for (let round = 0; round < 20; round += 1) {
      const child = await begun(["backup", folder, "--data", data]);
      await Bun.sleep(next() * 120);
      child.kill("SIGKILL");
      await child.exited;
    }
    for (const place of [folder, data]) {
      for (const name of readdirSync(place)) utimesSync(join(place, name), 0, 0);
    }
    expect((await command(["backup", folder, "--data", data])).exitCode).toBe(0);
    for (const name of readdirSync(folder)) {
      expect((await command(["backup", "verify", join(folder, name)])).exitCode).toBe(0);
    }
    const besides = readdirSync(data).filter((name) => !/^(?:rehome|limits)\.db/.test(name));
    expect(besides).toEqual([]);
  },
  60_000,
);
