import { expect } from "bun:test";

async function run(command: readonly string[]): Promise<{ exitCode: number; text: string }> {
  const child = Bun.spawn([...command], { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  const text = await child.stdout.text();
  return { exitCode: await child.exited, text };
}

/** Expects that `command`, an executable with its emulator, works on the empty folder `data`. */
export async function expectToWork(command: readonly string[], data: string): Promise<void> {
  const create = ["keys", "create", "--plan", "pro", "--name", "pi", "--json", "--data", data];
  const made = await run([...command, ...create]);
  expect(made.exitCode).toBe(0);
  const { key } = JSON.parse(made.text) as { key: string };
  await using child = Bun.spawn([...command, "serve", "--data", data, "--port", "0"], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  let banner = "";
  for await (const chunk of child.stdout as unknown as AsyncIterable<Uint8Array>) {
    banner += new TextDecoder().decode(chunk);
    if (/Data/.test(banner)) break;
  }
  const origin = /API +(http:\/\/[^/\s]+)/.exec(banner)?.[1] ?? "";
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = '{"name":"Rex","categoryId":9223372036854775807}';
  const created = await fetch(`${origin}/v1/pets`, { method: "POST", headers, body });
  expect([created.status, await created.text()]).toEqual([
    201,
    '{"id":1,"name":"Rex","categoryId":9223372036854775807}',
  ]);
  expect((await fetch(`${origin}/v1/pets?limit=0`, { headers })).status).toBe(400);
  const health = await run([...command, "health", "--port", new URL(origin).port]);
  expect(health.exitCode).toBe(0);
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
}
