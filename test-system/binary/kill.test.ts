/** Acknowledged means kept: a server that is killed loses no animal that it answered 201 for. */
import { expect, test } from "bun:test";
import { rehome, served } from "../../test/helpers/binary.ts";
import { Acknowledged } from "../../test/helpers/acknowledged.ts";
import { isOnPostgres } from "../../test/helpers/store-under-test.ts";
import { until } from "../../test/helpers/ask.ts";
import { random } from "../../scripts/random.ts";
import { killUnderLoad } from "../soak/kills.ts";

test("kills lose nothing, repeat no id, and admit no key above its limit", async () => {
  const { acknowledged, victims } = await killUnderLoad({ kills: 6, next: random(1) });
  expect([...victims.keys()].toSorted()).toEqual(["server", "server at its start"]);
  expect(acknowledged).toBeGreaterThan(500);
});

test.skipIf(isOnPostgres)("a backup of a running server is one moment of it", async () => {
  await using server = await served();
  const { data, key } = server;
  const acknowledged = new Acknowledged();
  let isOver = false;
  const creating = acknowledged.create(server, key, 32, () => isOver);
  await until(() => acknowledged.created > 200);
  const before = acknowledged.created;
  const backup = await rehome(["backup", "live", "--data", data, "--json"], { cwd: data });
  isOver = true;
  await creating;
  const { animals } = JSON.parse(backup.stdout) as { animals: number };
  expect(animals).toBeWithin(before, acknowledged.animals.size + 1);
});
