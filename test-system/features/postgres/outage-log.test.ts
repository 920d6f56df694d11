/** What a database that is gone leaves in the log, while strangers go on asking. */
import { expect, test } from "bun:test";
import { generateKey } from "../../../src/domain/api-key.ts";
import { seededBytes } from "../../../test/helpers/app.ts";
import { serve } from "../../../test/helpers/binary.ts";
import { load, portOf, requestText } from "../../../test/helpers/load.ts";
import { testDatabase } from "../../../test/helpers/postgres.ts";
import { tcpProxy } from "../../../test/helpers/tcp-proxy.ts";

const asked = 10_000;
const bytesMax = 100_000;

test(`an outage with ${asked} unknown keys writes at most ${bytesMax} bytes`, async () => {
  await using database = await testDatabase();
  const url = new URL(database.url);
  const proxy = await tcpProxy(Number(url.port));
  url.port = String(proxy.port);
  const args = ["--anonymous-per-minute", "1000000", "--store-timeout", "100"];
  const server = await serve(undefined, args, { env: { REHOME_STORE: url.href } });
  const random = seededBytes(3);
  let answers = 0;
  const asking = (total: number) =>
    load({
      port: portOf(server.origin),
      clients: 100,
      keepAlive: true,
      isOver: () => answers >= total,
      onAnswer: () => (answers += 1),
      request: () => requestText("GET", "/v1/pets", generateKey("production", random)),
    });
  try {
    await proxy.close();
    const { statuses } = await asking(asked);
    expect([...statuses.keys()]).toEqual([503]);
  } finally {
    await server.stop();
  }
  const log = server.stderr();
  expect(log.length).toBeLessThan(bytesMax);
  const counts = /"counts":(\{.*?\})/g;
  const counted = [...log.matchAll(counts)].map(
    ([, text = ""]) => (JSON.parse(text) as { unavailable?: number }).unavailable ?? 0,
  );
  expect(counted.reduce((sum, each) => sum + each, 0)).toBe(answers);
}, 120_000);
