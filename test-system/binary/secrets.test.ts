/**
 * A key is on standard output once, and nowhere else: not in a log, an error, a process list, a
 * file or a backup.
 */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { roomy, serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import { databaseFor, isOnPostgres } from "../../test/helpers/store-under-test.ts";
import { portOf } from "../../test/helpers/load.ts";
import { raw } from "../../test/helpers/raw.ts";

/**
 * Every file below `folder` that holds one of `secrets`, as text in any of the forms that text
 * takes.
 */
function holding(folder: string, secrets: readonly string[]): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return files
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => {
      const bytes = readFileSync(file);
      return secrets.some(
        (secret) => bytes.includes(secret) || bytes.includes(Buffer.from(secret, "utf16le")),
      );
    });
}

/** All that the tables of a database hold, as text. */
async function everyRow(url: string): Promise<string> {
  await using sql = new SQL(url, { max: 1 });
  const [row] = (await sql`SELECT schema_to_xml('rehome', true, false, '')::text AS rows`) as [
    { rows: string },
  ];
  expect(row.rows).toContain("<mask>rehome_live_");
  return row.rows;
}

/** What a process list shows of a process. */
function processLists(pid: number): string {
  const read = (name: string) => {
    const file = `/proc/${pid}/${name}`;
    return existsSync(file) ? readFileSync(file, "latin1") : "";
  };
  return read("cmdline") + read("environ") + read("comm");
}

test("a key is shown once, and kept nowhere", async () => {
  using folder = temporaryFolder();
  const data = join(folder.path, "data");
  await using server = await serve(data, ["--first-key"]);
  const first = /^ {2}(rehome_live_\w+)$/m.exec(server.stdout())?.[1] ?? "";
  const create = ["keys", "create", "--name", "a", "--data", data, "--json"];
  const created = await command([...create, ...roomy]);
  const second = (JSON.parse(created.stdout) as { key: string }).key;
  const rotated = await command(["keys", "rotate", "a", "--data", data, "--json"]);
  const third = (JSON.parse(rotated.stdout) as { key: string }).key;
  // The part that is random: what is shown of a key to know it by is short.
  const secrets = [first, second, third].map((key) => key.slice("rehome_live_".length + 4));
  expect(secrets.every((secret) => secret.length >= 30)).toBe(true);
  expect(created.stderr + rotated.stderr).not.toMatch(/rehome_live_\w{8}/);

  // Used well and badly: test/http/access-log.test.ts has each place where a client might put it.
  const shown: string[] = [];
  for (const key of [first, second, third]) {
    const headers = { authorization: `Bearer ${key}` };
    const body = `{"name":1,"categoryId":"${key}"}`;
    for (const [path, init] of [
      ["/v1/pets", { headers }],
      [`/v1/pets/${key}`, { headers }],
      [`/${key}`, { headers: { authorization: key } }],
      ["/v1/pets", { method: "POST", body, headers }],
    ] as const) {
      shown.push(await (await fetch(`${server.origin}${path}`, init)).text());
    }
    const broken = `GET /v1/pets HTTP/1.1\r\nAuthorization: Bearer ${key}\r\nX: \0\r\n\r\n`;
    shown.push((await raw(server.origin, broken, 100)).text);
  }
  const metrics = await fetch(`http://127.0.0.1:${portOf(server.origin)}/metrics`);
  shown.push(await metrics.text(), processLists(server.pid), server.stderr());
  shown.push((await command(["keys", "list", "--data", data])).stdout);
  shown.push((await command(["keys", "show", "a", "--data", data])).stdout);
  if (isOnPostgres) shown.push(await everyRow(await databaseFor(data)));
  else {
    const backup = join(folder.path, "backup.db");
    expect((await command(["backup", backup, "--data", data])).exitCode).toBe(0);
  }

  const leaks = shown.filter((text) => secrets.some((secret) => text.includes(secret)));
  expect(leaks).toEqual([]);
  expect(server.stdout().split(first)).toHaveLength(first === "" ? 0 : 4);
  expect(holding(folder.path, secrets)).toEqual([]);
  expect(await server.stop()).toBe(0);
  expect(holding(folder.path, secrets)).toEqual([]);
});
