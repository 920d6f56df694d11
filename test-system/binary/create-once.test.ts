/** Creates with an Idempotency-Key: sent at once to several processes, and across kills. */
import { expect, test } from "bun:test";
import { callerOf } from "../../test/helpers/ask.ts";
import {
  makeKey,
  roomy,
  serve,
  temporaryFolder,
  type RunningBinary,
} from "../../test/helpers/binary.ts";
import { until } from "../../test/helpers/until.ts";

const create = (server: RunningBinary, key: string, value: string) =>
  callerOf(server, key).create(value, { "idempotency-key": value });
const names = async (server: RunningBinary, key: string) =>
  (await callerOf(server, key).animals()).map(({ name }) => name);

test("three processes asked at the same moment add one animal for each value", async () => {
  using folder = temporaryFolder();
  const { key } = await makeKey(folder.path, ...roomy);
  await using first = await serve(folder.path);
  await using second = await serve(folder.path);
  await using third = await serve(folder.path);
  const servers = [first, second, third];
  const values = Array.from({ length: 40 }, (_, number) => `value-${number}`);
  const answers = await Promise.all(
    values.flatMap((value) =>
      servers.flatMap((server) =>
        [1, 2].map(async () => {
          const answer = await create(server, key, value);
          return { value, status: answer.status, body: await answer.text() };
        }),
      ),
    ),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  for (const value of values) {
    const bodies = answers.filter((each) => each.value === value).map((each) => each.body);
    expect(new Set(bodies).size).toBe(1);
  }
  expect((await names(first, key)).toSorted()).toEqual(values.toSorted());
}, 120_000);

test("clients that send again until they hear a 201 add each animal once, across kills", async () => {
  using folder = temporaryFolder();
  const { key } = await makeKey(folder.path, ...roomy);
  let server = await serve(folder.path);
  const over = new AbortController();
  let sent = 0;
  const acknowledged: string[] = [];
  const client = async (number: number) => {
    for (let count = 0; !over.signal.aborted; count += 1) {
      const value = `client-${number}-${count}`;
      sent += 1;
      for (;;) {
        try {
          const answer = await create(server, key, value);
          await answer.text();
          if (answer.status === 201) break;
        } catch {
          // Killed: nobody knows whether the animal is there. Sending it again is what the key is
          // for.
        }
        await Bun.sleep(5);
      }
      acknowledged.push(value);
    }
  };
  const clients = Promise.all(Array.from({ length: 16 }, (_, number) => client(number)));
  for (let kill = 0; kill < 4; kill += 1) {
    const before = acknowledged.length;
    await until(() => acknowledged.length > before + 100);
    await server.stop("SIGKILL");
    server = await serve(folder.path);
  }
  over.abort();
  await clients;
  const stored = await names(server, key);
  expect(acknowledged).toHaveLength(sent);
  expect(stored.toSorted()).toEqual(acknowledged.toSorted());
  expect(await server.stop()).toBe(0);
}, 120_000);
