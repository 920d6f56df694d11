/** Creates with an Idempotency-Key: sent at once to several processes, and again across kills. */
import { expect, test } from "bun:test";
import { callerOf, until } from "../../test/helpers/ask.ts";
import { makeKey, roomy, serve, temporaryFolder } from "../../test/helpers/binary.ts";

test("clients that ask three processes until they hear a 201 add each animal once, across kills", async () => {
  using folder = temporaryFolder();
  const { key } = await makeKey(folder.path, ...roomy);
  const servers = await Promise.all([1, 2, 3].map(() => serve(folder.path)));
  const over = new AbortController();
  const sent: string[] = [];
  let heard = 0;
  const client = async (number: number) => {
    for (let count = 0; !over.signal.aborted; count += 1) {
      const value = `client-${number}-${count}`;
      sent.push(value);
      const bodies: string[] = [];
      while (bodies.length === 0) {
        const asked = servers.map(async (server) => {
          const answer = await callerOf(server, key).create(value, { "idempotency-key": value });
          const body = await answer.text();
          if (answer.status === 201) bodies.push(body);
        });
        // Killed: nobody knows whether the animal is there. The key is for sending it again.
        await Promise.allSettled(asked);
      }
      expect(new Set(bodies).size).toBe(1);
      heard += 1;
    }
  };
  const clients = Promise.all(Array.from({ length: 16 }, (_, number) => client(number)));
  for (let kill = 0; kill < 4; kill += 1) {
    const before = heard;
    await until(() => heard > before + 100);
    const at = kill % servers.length;
    await servers[at]?.stop("SIGKILL");
    servers[at] = await serve(folder.path);
  }
  over.abort();
  await clients;
  const [first, ...others] = servers;
  if (first === undefined) throw new Error("no server");
  const stored = await callerOf(first, key).animals();
  expect(stored.map(({ name }) => name).toSorted()).toEqual(sent.toSorted());
  for (const server of [first, ...others]) expect(await server.stop()).toBe(0);
});
