/** Backups that are killed. test/sessions/backup.md has what the commands print. */
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { begun, makeKey, temporaryFolder } from "../../test/helpers/binary.ts";
import { random as randomOf } from "../../scripts/random.ts";
import { command } from "../../test/helpers/command.ts";

test("a backup that is killed at any moment leaves nothing for ever", async () => {
  using at = temporaryFolder();
  const [data, folder] = [join(at.path, "data"), join(at.path, "backups")];
  await makeKey(data);
  const random = randomOf(9);
  mkdirSync(folder);
  for (let round = 0; round < 20; round += 1) {
    const child = await begun(["backup", folder, "--data", data]);
    await Bun.sleep(random() * 120);
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
});
