/** Imports beside a running server. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  makeKey,
  rehome,
  roomy,
  serve,
  temporaryFolder,
  type RunningBinary,
} from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";

function largeFile(folder: string, rows: number): string {
  const file = join(folder, "large.csv");
  const row = (index: number) => `Animal ${index},${(index % 4) + 1},available,x:${index}\n`;
  const text = Array.from({ length: rows }, (_, index) => row(index)).join("");
  writeFileSync(file, `name,categoryId,status,externalId\n${text}`);
  return file;
}

test("reads and creates are answered while an import goes on, and its animals are seen", async () => {
  using folder = temporaryFolder();
  const data = join(folder.path, "data");
  const file = largeFile(folder.path, 30_000);
  // What counts is how many are answered meanwhile; a busy machine may let one of them wait for a
  // database.
  await using server = await serve(data, ["--store-timeout", "60000"]);
  const { key } = await makeKey(data, ...roomy);
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const pets = `${server.origin}/v1/pets`;
  expect(await (await fetch(pets, { headers })).json()).toEqual([]);

  const statuses = { during: 0, created: 0, other: 0 };
  const work = rehome(["pets", "import", file, "--data", data]);
  const ended = { is: false };
  void work.finally(() => (ended.is = true));
  while (!ended.is) {
    const body = '{"name":"Rex","categoryId":5}';
    const answers = await Promise.all([
      fetch(pets, { headers }),
      fetch(pets, { method: "POST", headers, body }),
    ]);
    const [read, created] = answers.map(({ status }) => status);
    await Promise.all(answers.map((answer) => answer.text()));
    if (read === 200 && created === 201) statuses.created += 1;
    else statuses.other += 1;
    statuses.during += 1;
  }
  expect(await work).toMatchObject({ exitCode: 0 });
  expect(statuses.other).toBe(0);
  // Many requests fit into an import only if none of them had to wait for all of it.
  expect(statuses.during).toBeGreaterThan(5);

  const page = (await (
    await fetch(`${pets}?status=available&limit=100`, { headers })
  ).json()) as unknown[];
  expect(page).toHaveLength(100);
  const lines = (await command(["pets", "export", "--data", data])).stdout.trimEnd().split("\n");
  expect(lines).toHaveLength(30_000 + statuses.created);
  expect(await server.stop()).toBe(0);
});

/** A server with little time for its store. A busy database may take longer to open: try again. */
async function serveInHaste(data: string, triesLeft = 20): Promise<RunningBinary> {
  try {
    return await serve(data, ["--store-timeout", "250"]);
  } catch (error) {
    if (triesLeft === 0) throw error;
    return serveInHaste(data, triesLeft - 1);
  }
}

test("a create that would wait too long gets 503 with Retry-After; none is lost", async () => {
  using folder = temporaryFolder();
  // As many as a list may have: its transaction takes longer than the server waits.
  const rows = 100_000;
  const data = join(folder.path, "data");
  const file = largeFile(folder.path, rows);
  // This makes the store: the server would have to do that within its short time.
  const { key } = await makeKey(data, ...roomy);
  await using server = await serveInHaste(data);
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const counts = new Map<string, number>();
  const work = rehome(["pets", "import", file, "--data", data]);
  const ended = { is: false };
  void work.finally(() => (ended.is = true));
  while (!ended.is) {
    const body = '{"name":"Rex","categoryId":5}';
    const answer = await fetch(`${server.origin}/v1/pets`, { method: "POST", headers, body });
    await answer.text();
    const said = `${answer.status} ${answer.headers.get("retry-after")}`;
    counts.set(said, (counts.get(said) ?? 0) + 1);
  }
  expect(await work).toMatchObject({ exitCode: 0 });
  const { "201 null": created = 0, "503 1": refused = 0, ...others } = Object.fromEntries(counts);
  expect([refused > 0, others]).toEqual([true, {}]);
  const lines = (await command(["pets", "export", "--data", data])).stdout.trimEnd().split("\n");
  // One that was refused may have been carried out, once: it was too late to say so.
  expect(lines.length).toBeGreaterThanOrEqual(rows + created);
  expect(lines.length).toBeLessThanOrEqual(rows + created + refused);
});
