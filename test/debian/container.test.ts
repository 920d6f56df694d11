/**
 * The image's root, assembled as its Dockerfile does from libraries laid out as Alpine's are, and
 * run without anything else of the system. There is no other test in which the musl executables
 * run.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { serve, temporaryFolder } from "../helpers/binary.ts";
import { expectToWork } from "../helpers/emulated.ts";
import { librariesMaxMs, muslLibraries } from "../helpers/musl-libraries.ts";

const root = join(import.meta.dir, "../..");
const container = join(root, "packaging/container");
const emulatedMaxMs = 900_000;
const folder = temporaryFolder();
const out = join(folder.path, "out");

beforeAll(async () => {
  const script = [process.execPath, "scripts/build-all.ts", "--no-packages", "--out", out];
  const made = Bun.spawnSync([...script, "--only", "x64-musl", "--only", "arm64-musl"], {
    cwd: root,
  });
  expect([made.stderr.toString(), made.exitCode]).toEqual(["", 0]);
}, emulatedMaxMs);
afterAll(() => folder[Symbol.dispose]());

test(
  "the image's root is enough: first key, requests, health, stop, all without rights",
  async () => {
    const image = join(folder.path, "root");
    const libraries = await muslLibraries("amd64");
    const made = Bun.spawnSync(["sh", join(container, "make-root.sh"), image, libraries]);
    expect([made.stderr.toString(), made.exitCode]).toEqual(["", 0]);
    copyFileSync(join(out, "rehome-linux-x64-musl"), join(image, "rehome"));
    expect(readdirSync(join(image, "lib"))).toEqual(["ld-musl-x86_64.so.1"]);
    expect(existsSync(join(image, "bin/sh"))).toBe(false);

    // What every container engine gives: /proc and /dev, seen by this process alone.
    const mounts = `mount -t proc proc ${image}/proc; mount --rbind /dev ${image}/dev`;
    const chroot = `exec /usr/sbin/chroot --userspec=65532:65532 ${image} "$@"`;
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
    const maps = readFileSync(`/proc/${server.pid}/maps`, "utf8");
    const loaded = maps.match(/\/(?:ld-musl|libstdc\+\+|libgcc_s|libc)[^/\n]*$/gm);
    expect([...new Set(loaded)].toSorted()).toEqual([
      "/ld-musl-x86_64.so.1",
      "/libgcc_s.so.1",
      "/libstdc++.so.6",
    ]);
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
  },
  librariesMaxMs + emulatedMaxMs,
);

test(
  "the arm64-musl executable migrates, makes a key, serves and stops",
  async () => {
    const emulator = ["qemu-aarch64-static", "-cpu", "cortex-a72", "-L"];
    const data = join(folder.path, "arm64");
    mkdirSync(data);
    await expectToWork(
      [...emulator, await muslLibraries("arm64"), join(out, "rehome-linux-arm64-musl")],
      data,
    );
  },
  librariesMaxMs + emulatedMaxMs,
);

test("the Dockerfile runs what was tried, as the account that was tried", () => {
  const text = readFileSync(join(container, "Dockerfile"), "utf8");
  expect(text).toMatch(/^FROM alpine:\d+\.\d+\.\d+ AS base\nRUN apk add --no-cache libstdc\+\+$/m);
  expect(text).toMatch(/^ARG EXECUTABLE=dist\/rehome-linux-x64-musl$/m);
  expect(text).toContain("FROM scratch");
  expect(text).toContain("USER 65532:65532");
  expect(text).toContain('CMD ["/rehome", "health"]');
  expect(text).toContain("make-root.sh /root-of-image");
});
