/** The image's root, assembled as its Dockerfile does, and run without anything else of the system. */
import { expect, test } from "bun:test";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { executable, serve, temporaryFolder } from "../helpers/binary.ts";

const container = join(import.meta.dir, "../../packaging/container");

test("the image's root is enough: first key, requests, health, stop, all without rights", async () => {
  using folder = temporaryFolder();
  const root = join(folder.path, "root");
  const made = Bun.spawnSync(["sh", join(container, "make-root.sh"), root]);
  expect([made.stderr.toString(), made.exitCode]).toEqual(["", 0]);
  copyFileSync(await executable(), join(root, "rehome"));
  expect(existsSync(join(root, "bin/sh"))).toBe(false);

  // What every container engine gives: /proc and /dev, seen by this process alone.
  const mounts = `mount -t proc proc ${root}/proc; mount --rbind /dev ${root}/dev`;
  const chroot = `exec /usr/sbin/chroot --userspec=65532:65532 ${root} "$@"`;
  const enter = ["/usr/bin/unshare", "--mount", "/bin/sh", "-euc", `${mounts}; ${chroot}`, "sh"];
  const run = async (...args: string[]) => {
    const child = Bun.spawn([...enter, "/rehome", ...args], {
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", REHOME_DATA: "/data" },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [text, said] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    return { exitCode: await child.exited, text, said };
  };
  const created = await run("keys", "create", "--plan", "free", "--name", "first", "--json");
  expect([created.said, created.exitCode]).toEqual([expect.any(String), 0]);
  const { key } = JSON.parse(created.text) as { key: string };

  await using server = await serve("/data", ["--host", "0.0.0.0"], {
    command: enter,
    path: "/rehome",
  });
  const origin = `http://127.0.0.1:${new URL(server.origin).port}`;
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = '{"name":"Rex","categoryId":1}';
  expect((await fetch(`${origin}/v1/pets`, { method: "POST", headers, body })).status).toBe(201);
  expect((await fetch(`${origin}/docs`)).status).toBe(200);
  expect(readFileSync(`/proc/${server.pid}/status`, "utf8")).toMatch(/^Uid:\t65532\t65532/m);
  const { port } = new URL(origin);
  expect(await run("health", "--port", port)).toMatchObject({ exitCode: 0 });
  expect(await server.stop()).toBe(0);
  expect(await run("health", "--port", port)).toMatchObject({ exitCode: 1 });
});

test("the Dockerfile runs what was tried, as the account that was tried", () => {
  const text = readFileSync(join(container, "Dockerfile"), "utf8");
  expect(text).toContain("FROM scratch");
  expect(text).toContain("USER 65532:65532");
  expect(text).toContain('CMD ["/rehome", "health"]');
  expect(text).toContain("make-root.sh /root-of-image");
});
