/**
 * The image's root, assembled as the Dockerfile does, with the executable for musl, and run without
 * anything else of the system. There is no other test in which that one runs.
 */
import { afterAll, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { finished } from "../../test/helpers/finished.ts";
import { build } from "../../scripts/build.ts";
import { callerOf } from "../../test/helpers/ask.ts";
import { serve, temporaryFolder } from "../../test/helpers/binary.ts";

const root = join(import.meta.dir, "../..");
const folder = temporaryFolder();

afterAll(() => folder[Symbol.dispose]());

/** The executable for musl, and a folder with its libraries, laid out as on Alpine. */
async function forMusl(): Promise<string[]> {
  const executable = join(folder.path, "rehome");
  await build(executable, "bun-linux-x64-musl");
  const system = join(folder.path, "alpine");
  const libraries = Bun.spawnSync(["sh", join(root, "test/fixtures/musl/libraries.sh"), system]);
  expect([libraries.stderr.toString(), libraries.exitCode]).toEqual(["", 0]);
  return [executable, system];
}

/** What a registry sends of the image. */
const imageMaxBytes = 56_000_000;

async function compressedBytes(image: string): Promise<number> {
  const pack = Bun.spawn(["sh", "-c", 'tar -C "$0" -c . | gzip | wc -c', image]);
  return Number(await pack.stdout.text());
}

const libraries = ["ld-musl-x86_64.so.1", "libgcc_s.so.1", "libstdc++.so.6"];

test("the image's root is enough: first key, requests, health, stop, all without rights", async () => {
  const image = join(folder.path, "image");
  const [path = "", ...system] = await forMusl();
  const script = join(root, "packaging/container/make-root.sh");
  const made = Bun.spawnSync(["sh", script, path, image, ...system]);
  expect([made.stderr.toString(), made.exitCode]).toEqual(["", 0]);
  const inside = [...new Bun.Glob("**/*.so*").scanSync(image)].map((file) => basename(file));
  expect(inside.toSorted()).toEqual(libraries);
  expect(existsSync(join(image, "bin/sh"))).toBe(false);
  expect(await compressedBytes(image)).toBeLessThan(imageMaxBytes);

  // What every container engine gives: /proc and /dev, seen by this process alone.
  const mounts = `mount -t proc proc ${image}/proc; mount --rbind /dev ${image}/dev`;
  const chroot = `exec /usr/sbin/chroot --userspec=65532:65532 ${image} "$@"`;
  const enter = ["/usr/bin/unshare", "--mount", "/bin/sh", "-euc", `${mounts}; ${chroot}`, "sh"];
  const run = (...args: string[]) =>
    finished([...enter, "/rehome", ...args], {
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", REHOME_DATA: "/data" },
    });
  const created = await run("keys", "create", "--plan", "free", "--name", "first", "--json");
  expect([created.stderr, created.exitCode]).toEqual([expect.any(String), 0]);
  const { key } = JSON.parse(created.stdout) as { key: string };

  await using server = await serve("/data", ["--host", "0.0.0.0"], {
    command: enter,
    path: "/rehome",
  });
  const origin = `http://127.0.0.1:${new URL(server.origin).port}`;
  expect((await callerOf({ origin }, key).create()).status).toBe(201);
  expect((await fetch(`${origin}/docs`)).status).toBe(200);
  expect(readFileSync(`/proc/${server.pid}/status`, "utf8")).toMatch(/^Uid:\t65532\t65532/m);
  const { port } = new URL(origin);
  expect(await run("health", "--port", port)).toMatchObject({ exitCode: 0 });
  expect(await server.stop()).toBe(0);
  expect(await run("health", "--port", port)).toMatchObject({ exitCode: 1 });
});
