/** Starts together, and starts on a short ration of file descriptors. */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { ask, until } from "../../test/helpers/ask.ts";
import { serve, served, temporaryFolder } from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import { Client, portOf, requestText } from "../../test/helpers/load.ts";

test("servers that begin a store together make one first key", async () => {
  using folder = temporaryFolder();
  const starts = Array.from({ length: 3 }, () => serve(folder.path, ["--first-key"]));
  const servers = await Promise.all(starts);
  // Whatever is done behind the start is over.
  const { stdout } = await command(["keys", "list", "--json", "--data", folder.path]);
  expect((JSON.parse(stdout) as unknown[]).length).toBe(1);
  for (const server of servers) expect(await server.stop()).toBe(0);
});

describe("file descriptors", () => {
  /** Runs the executable with these limits on them. */
  const withLimits = (soft: number, hard: number) => [
    "sh",
    "-c",
    `ulimit -Sn ${soft} && ulimit -Hn ${hard} && exec "$@"`,
    "sh",
  ];

  test("a soft limit is raised to the hard one", async () => {
    await using server = await served([], { command: withLimits(64, 700) });
    const limits = readFileSync(`/proc/${server.pid}/limits`, "utf8");
    expect(limits).toMatch(/^Max open files +700 +700 /m);
  });

  test("a server without any answers on and stores on", async () => {
    await using server = await served([], { command: withLimits(256, 256) });
    const { key } = server;
    const port = portOf(server.origin);
    const kept = new Client(port, true);
    const request = (method: string, body?: string) =>
      kept.send(requestText(method, "/v1/pets", key, body));
    // Accepted by the process, not only by the system.
    expect(await request("GET")).toMatchObject({ status: 200 });
    const others: Socket[] = Array.from({ length: 400 }, () =>
      connect({ port, host: "127.0.0.1" }),
    );
    for (const socket of others) socket.on("error", () => undefined);
    await until(() => readdirSync(`/proc/${server.pid}/fd`).length === 256);
    // The first create of this server, while it has none left.
    const created = await request("POST", '{"name":"Rex","categoryId":1}');
    expect(created).toMatchObject({ status: 201 });
    expect(await request("GET")).toMatchObject({ body: expect.stringContaining('"name":"Rex"') });
    expect(kept.connections).toBe(1);
    for (const socket of others) socket.destroy();
    expect((await ask(server.origin, key)).status).toBe(200);
    kept.close();
    expect(await server.stop()).toBe(0);
  });
});
