/** Imports, and the undo of one, beside a running server. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { callerOf, until } from "../../test/helpers/ask.ts";
import { rehome, type RunningBinary, served, temporaryFolder } from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";

function largeFile(folder: string, rows: number): string {
  const file = join(folder, "large.csv");
  const row = (index: number) => `Animal ${index},${(index % 4) + 1},available,x:${index}\n`;
  const text = Array.from({ length: rows }, (_, index) => row(index)).join("");
  writeFileSync(file, `name,categoryId,status,externalId\n${text}`);
  return file;
}

/** Lists and creates for as long as a command runs. Returns how often each was answered how. */
async function beside(server: RunningBinary, key: string, args: readonly string[]) {
  const { get, create } = callerOf(server, key);
  const counts: Record<string, number> = {};
  const work = rehome(args);
  const ended = { is: false };
  void work.finally(() => (ended.is = true));
  const again = async (ask: () => Promise<Response>) => {
    while (!ended.is) {
      const answer = await ask();
      await answer.text();
      const said = [answer.status, answer.headers.get("retry-after") ?? []].flat().join(" ");
      counts[said] = (counts[said] ?? 0) + 1;
    }
  };
  await Promise.all([again(() => get()), again(() => create())]);
  expect(await work).toMatchObject({ exitCode: 0 });
  return counts;
}

const exported = async (data: string) =>
  (await command(["pets", "export", "--data", data])).stdout.trimEnd().split("\n");

async function available(server: RunningBinary, key: string): Promise<number> {
  const page = await callerOf(server, key).get("/v1/pets?status=available");
  return ((await page.json()) as unknown[]).length;
}

test("reads and creates are answered while an import and its undo go on", async () => {
  // What counts is how many are answered meanwhile; a busy machine may let one of them wait for a
  // database.
  await using server = await served(["--store-timeout", "60000"]);
  const { data, key } = server;
  using folder = temporaryFolder();
  const file = largeFile(folder.path, 30_000);
  let created = 0;
  for (const args of [
    ["pets", "import", file],
    ["undo", "--yes"],
  ]) {
    const {
      "200": read = 0,
      "201": more = 0,
      ...others
    } = await beside(server, key, [...args, "--data", data]);
    expect(others).toEqual({});
    // Many requests fit in only if none of them had to wait for all of it.
    expect(read).toBeGreaterThan(5);
    created += more;
    const isThere = args[0] === "pets";
    // On PostgreSQL a server sees what another process changed within a second.
    await until(async () => (await available(server, key)) === (isThere ? 20 : 0));
    expect(await exported(data)).toHaveLength(created + (isThere ? 30_000 : 0));
  }
  expect(await server.stop()).toBe(0);
});
