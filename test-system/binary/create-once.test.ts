/**
 * Creates with an Idempotency-Key on the compiled executable: sent twice, at once, to several
 * processes, across kills.
 */
import { expect, test } from "bun:test";
import { makeKey, perDay, roomy, serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import { until } from "../../test/helpers/until.ts";

interface Place {
  readonly origin: string;
}

const rex = '{"name":"Rex","categoryId":1,"status":"available"}';

function create({ origin }: Place, key: string, value: string, body = rex): Promise<Response> {
  return fetch(`${origin}/v1/pets`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "idempotency-key": value,
    },
    body,
  });
}

async function names({ origin }: Place, key: string): Promise<string[]> {
  const found: string[] = [];
  let next: string | undefined = `${origin}/v1/pets?limit=100`;
  while (next !== undefined) {
    const answer: Response = await fetch(next, { headers: { authorization: `Bearer ${key}` } });
    found.push(...((await answer.json()) as { name: string }[]).map(({ name }) => name));
    next = /<([^>]+)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
  }
  return found;
}

test("the same create gets its first answer again, another one 400, and each request counts", async () => {
  using folder = temporaryFolder();
  const { key, id } = await makeKey(folder.path, ...perDay(60));
  const { key: other } = await makeKey(folder.path, "--plan", "free", "--name", "other");
  await using server = await serve(folder.path);
  const left = (answer: Response) => Number(answer.headers.get("x-ratelimit-remaining"));

  const first = await create(server, key, "a-1");
  expect([first.status, first.headers.get("idempotent-replayed"), left(first)]).toEqual([
    201,
    null,
    59,
  ]);
  const body = await first.text();
  expect(JSON.parse(body)).toEqual({ id: 1, ...(JSON.parse(rex) as object) });

  // Quoted, and with the same animal written in another way.
  const spaced = '{ "status":"available", "categoryId":1.0,\n"name":"\\u0052ex", "more":1 }';
  for (const again of [
    await create(server, key, "a-1"),
    await create(server, key, '"a-1"', spaced),
  ]) {
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
    expect(await again.text()).toBe(body);
  }
  const rotated = await command(["keys", "rotate", id, "--data", folder.path]);
  const lineage = await create(server, rotated.stdout.trim(), "a-1");
  expect([lineage.status, left(lineage), await lineage.text()]).toEqual([201, 56, body]);

  const mixed = await create(server, key, "a-1", '{"name":"Mia","categoryId":1}');
  expect(mixed.status).toBe(400);
  expect(await mixed.json()).toEqual({
    code: "invalid_request",
    message:
      "This Idempotency-Key came with another body within the last 24 hours; use a new one for another animal.",
    status: 400,
  });
  expect((await create(server, other, "a-1")).headers.get("idempotent-replayed")).toBeNull();
  expect(await names(server, key)).toEqual(["Rex", "Rex"]);

  // A value that is none, and what is refused, are not remembered.
  for (const value of ["", "a b", "x".repeat(256)]) {
    expect((await create(server, key, value)).status).toBe(400);
  }
  expect(await names(server, key)).toEqual(["Rex", "Rex"]);
  expect((await create(server, key, "a-2", '{"name":"Rex"}')).status).toBe(400);
  expect((await create(server, key, "a-2")).headers.get("idempotent-replayed")).toBeNull();
});

test("three processes asked at the same moment add one animal for each value", async () => {
  using folder = temporaryFolder();
  const { key } = await makeKey(folder.path, ...roomy);
  await using first = await serve(folder.path);
  await using second = await serve(folder.path);
  await using third = await serve(folder.path);
  const servers = [first, second, third];
  const values = Array.from({ length: 40 }, (_, number) => `value-${number}`);
  const body = (value: string) => `{"name":"${value}","categoryId":1}`;
  const answers = await Promise.all(
    values.flatMap((value) =>
      servers.flatMap((server) =>
        [1, 2].map(async () => {
          const answer = await create(server, key, value, body(value));
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
          const answer = await create(server, key, value, `{"name":"${value}","categoryId":1}`);
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
