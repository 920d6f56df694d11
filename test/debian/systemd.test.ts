/** The units: what systemd says of them, and that the service stays within what they allow. */
import { describe, expect, test } from "bun:test";
import { chownSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { executable, makeKey, rehome, serve, temporaryFolder } from "../helpers/binary.ts";

const names = ["rehome.service"];
/** systemd's own worst mark for a unit that is well locked in: "OK" ends at 2.0. */
const exposureMax = 1.5;

async function analyze(...args: string[]): Promise<{ exitCode: number; text: string }> {
  const child = Bun.spawn(["systemd-analyze", ...args], { stdout: "pipe", stderr: "pipe" });
  const [out, err, exitCode] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  return { exitCode, text: out + err };
}

/**
 * The units as the executable prints them, in a folder with a copy of it: the folder of the project
 * may have a blank in its path, which no unit can hold.
 */
async function printed(folder: string): Promise<void> {
  const path = join(folder, "rehome");
  copyFileSync(await executable(), path);
  for (const name of names) {
    const { stdout, exitCode } = await rehome(["service", "print", name], { path });
    expect(exitCode).toBe(0);
    writeFileSync(join(folder, name), stdout);
  }
}

test("systemd finds nothing to criticise", async () => {
  using folder = temporaryFolder();
  await printed(folder.path);
  const { exitCode, text } = await analyze(
    "verify",
    ...names.map((name) => join(folder.path, name)),
  );
  expect([text, exitCode]).toEqual(["", 0]);
});

test.each(names)("%s is well locked in", async (name) => {
  using folder = temporaryFolder();
  await printed(folder.path);
  const { text } = await analyze("security", "--offline=true", join(folder.path, name));
  const exposure = Number(/exposure level for \S+: ([\d.]+)/.exec(text)?.[1]);
  expect(exposure).toBeLessThanOrEqual(exposureMax);
  // The compiler would be turned off without a word.
  expect(readFileSync(join(folder.path, name), "utf8")).not.toMatch(/^MemoryDenyWriteExecute=yes/m);
});

/** The system calls of systemd's sets, by name. */
async function callSets(): Promise<(name: string) => Set<string>> {
  const { text } = await analyze("syscall-filter", "--no-pager");
  const sets = new Map<string, string[]>();
  let current: string[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("@")) sets.set(line.trim(), (current = []));
    else if (/^ {4}[-@\w]+$/.test(line)) current.push(line.trim());
  }
  const expand = (name: string): string[] =>
    (sets.get(name) ?? []).flatMap((each) => (each.startsWith("@") ? expand(each) : [each]));
  return (name) => new Set(expand(name));
}

test("under load the service makes no system call that its unit forbids", async () => {
  using folder = temporaryFolder();
  const data = join(folder.path, "data");
  const trace = join(folder.path, "trace");
  mkdirSync(data);
  const { key } = await makeKey(data);
  const isRoot = process.getuid?.() === 0;
  const nobody = 65_534;
  if (isRoot) {
    for (const path of [folder.path, data, ...new Bun.Glob(`${data}/*`).scanSync("/")]) {
      chownSync(path, nobody, nobody);
    }
  }
  const command = ["strace", "-f", "-qq", "-o", trace, "-e", "trace=all"].concat(
    isRoot ? ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"] : [],
  );
  const server = await serve(data, [], { command });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  for (let i = 0; i < 5; i += 1) {
    await fetch(`${server.origin}/v1/pets`, {
      method: "POST",
      headers,
      body: '{"name":"a","categoryId":1}',
    });
    await fetch(`${server.origin}/v1/pets`, { headers });
  }
  const child = Number(
    readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, "utf8").trim(),
  );
  process.kill(child, "SIGTERM");
  expect(await server.exited).toBe(0);

  const setOf = await callSets();
  const allowed = setOf("@system-service");
  for (const denied of ["@privileged", "@resources"]) {
    for (const call of setOf(denied)) allowed.delete(call);
  }
  expect(allowed.size).toBeGreaterThan(200);
  const calls = readFileSync(trace, "utf8")
    .split(`execve("${await executable()}"`)
    .slice(1)
    .join("")
    .matchAll(/^\d+ +([a-z_0-9]+)\(/gm);
  const used = new Set([...calls].map(([, name = ""]) => name));
  expect(used.size).toBeGreaterThan(30);
  expect([...used].filter((name) => !allowed.has(name))).toEqual([]);
});

describe("rehome service install", () => {
  test("writes units and settings into another system's folder, and settings only once", async () => {
    using folder = temporaryFolder();
    const install = () =>
      rehome(["service", "install", "--root", folder.path, "--user", "shelter"]);
    const first = await install();
    // The executable of these tests stands where a service may not look, and the command says so.
    const path = await executable();
    const isHidden = /^\/(?:home|root|tmp)\//.test(path);
    if (isHidden || /\s/.test(path)) {
      const why = isHidden ? "the service cannot read it there" : "a unit cannot hold a path with";
      expect(first.stderr).toContain(why);
      return;
    }
    expect([first.stderr, first.exitCode]).toEqual(["", 0]);
    const unit = readFileSync(join(folder.path, "etc/systemd/system/rehome.service"), "utf8");
    expect(unit).toMatch(/^User=shelter$/m);
    expect(unit).not.toContain("Group=");
    expect(unit).toContain(`ExecStart=${await executable()} serve\n`);
    const settings = join(folder.path, "etc/default/rehome");
    writeFileSync(settings, "REHOME_PORT=9000\n");
    expect((await install()).exitCode).toBe(0);
    expect(readFileSync(settings, "utf8")).toBe("REHOME_PORT=9000\n");
  });
});
