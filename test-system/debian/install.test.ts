/** install.sh against a release on this machine: what it installs, and what it refuses. */
import { afterAll, beforeEach, afterEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../test/helpers/binary.ts";
import { finished } from "../../test/helpers/finished.ts";

const root = join(import.meta.dir, "../..");
const installer = join(root, "install.sh");

/** A program that says so: large enough that it does not fit everywhere. */
const program = (version: string) => `#!/bin/sh\necho ${version}\n# ${"x".repeat(3_000_000)}\n`;
const files = new Map<string, string>();
const sumOf = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");

function release(version: string): void {
  const names = ["rehome-linux-x64", "rehome-linux-arm64", "rehome-linux-x64-musl"];
  for (const name of names) files.set(name, program(`${version} ${name}`));
  const lines = names.map((name) => `${sumOf(files.get(name) ?? "")}  ${name}\n`);
  files.set("SHA256SUMS", lines.join(""));
}

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    const text = files.get(new URL(request.url).pathname.slice(1));
    return text === undefined ? new Response("none", { status: 404 }) : new Response(text);
  },
});
afterAll(() => server.stop(true));

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
  files.clear();
  release("1.0.0");
});
afterEach(() => folder[Symbol.dispose]());

/** Tools of this system under a path of their own, without those left out. */
function toolsWithout(...names: readonly string[]): string {
  const bin = join(folder.path, "bin");
  mkdirSync(bin);
  // Both folders have the same names on most systems, some of them links that lead nowhere.
  const tools = new Map(
    ["/bin", "/usr/bin"].flatMap((path) =>
      readdirSync(path).map((name) => [name, join(path, name)] as const),
    ),
  );
  for (const [name, path] of tools) {
    if (!names.includes(name)) symlinkSync(path, join(bin, name));
  }
  return bin;
}

async function install(env: Record<string, string> = {}, command: readonly string[] = ["sh"]) {
  return finished(command, {
    // As `curl ... | sh` gives it.
    stdin: readFileSync(installer, "utf8"),
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: folder.path,
      REHOME_FROM: server.url.href.replace(/\/$/, ""),
      REHOME_TO: join(folder.path, "to"),
      ...env,
    },
  });
}

const installed = () => {
  const file = join(folder.path, "to", "rehome");
  return existsSync(file) ? Bun.spawnSync([file]).stdout.toString().trim() : undefined;
};
const left = () => readdirSync(join(folder.path, "to"));

test("installs, says what to run next, does nothing a second time, and upgrades", async () => {
  const first = await install();
  expect([first.exitCode, first.stderr]).toEqual([0, ""]);
  expect(first.stdout).toContain(`${folder.path}/to/rehome serve --first-key`);
  expect(first.stdout).toContain("service install");
  expect(installed()).toBe("1.0.0 rehome-linux-x64");
  expect((await install()).stdout).toContain("is installed already");
  release("1.1.0");
  expect((await install()).stdout).toContain("Installed rehome 1.1.0");
  expect(installed()).toBe("1.1.0 rehome-linux-x64");
  expect(left()).toEqual(["rehome"]);
});

test("without HOME it goes to the home of the account, or says what is missing", async () => {
  const bin = toolsWithout("id", "getent");
  writeFileSync(join(bin, "id"), "#!/bin/sh\necho 1000\n", { mode: 0o755 });
  const getent = join(bin, "getent");
  writeFileSync(getent, `#!/bin/sh\necho kim:x:1000:1000::${folder.path}/kim:/bin/sh\n`, {
    mode: 0o755,
  });
  const without = { PATH: bin, HOME: "", REHOME_TO: "" };
  expect((await install(without)).stdout).toContain(`as ${folder.path}/kim/.local/bin/rehome.`);
  writeFileSync(getent, "#!/bin/sh\nexit 2\n", { mode: 0o755 });
  const { exitCode, stderr } = await install(without);
  expect(exitCode).toBe(1);
  expect(stderr).toBe(
    "Error: HOME is not set.\nTry: REHOME_TO=FOLDER, for a folder that you may write to\n",
  );
  // Whoever names a folder needs no home.
  const named = join(folder.path, "to");
  expect((await install({ ...without, REHOME_TO: named })).exitCode).toBe(0);
});

test.each([
  ["pni ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm hypervisor", undefined],
  // kvm64 of Proxmox, and a processor of 2007.
  ["pni cx16 lahf_lm hypervisor", "set the CPU type of this virtual machine to host, and"],
  ["pni ssse3 cx16 lahf_lm", "use a machine whose processor"],
])("on a processor with %s", async (flags, advice) => {
  const file = join(folder.path, "cpuinfo");
  writeFileSync(file, `processor\t: 0\nflags\t\t: fpu ${flags} rep_good\n`);
  const script = `mount --bind ${file} /proc/cpuinfo && exec sh`;
  const { exitCode, stderr } = await install({}, ["unshare", "--mount", "sh", "-c", script]);
  expect(exitCode).toBe(advice === undefined ? 0 : 1);
  if (advice === undefined) return;
  expect(stderr).toMatch(/^Error: This processor has no \w+, and rehome needs x86-64-v2\.$/m);
  expect(stderr).toContain(`Try: ${advice}`);
  expect(installed()).toBeUndefined();
});

describe("what is not what it should be is not installed, and what was there stays:", () => {
  const refused = async (why: RegExp, env: Record<string, string> = {}) => {
    const { exitCode, stderr } = await install(env);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(why);
    expect(installed()).toBe("1.0.0 rehome-linux-x64");
    expect(left()).toEqual(["rehome"]);
  };
  beforeEach(async () => {
    await install();
    release("1.1.0");
  });

  test("a file that was changed on the way", async () => {
    files.set("rehome-linux-x64", `${program("6.6.6")}# evil\n`);
    await refused(/is not what its SHA-256 says/);
  });
  test("a release without the file, or without its sum", async () => {
    files.delete("rehome-linux-x64");
    await refused(/rehome-linux-x64 cannot be downloaded/);
    files.set("rehome-linux-x64", program("1.1.0"));
    files.set("SHA256SUMS", `${sumOf("")}  rehome-linux-x64-musl\n`);
    await refused(/does not name rehome-linux-x64/);
  });
});

test("a signature of a key in REHOME_KEYRING is needed, and enough", async () => {
  const home = join(folder.path, "gnupg");
  mkdirSync(home, { mode: 0o700 });
  const gpg = (...args: string[]) =>
    Bun.spawnSync(["gpg", "--homedir", home, "--batch", "--quiet", ...args], { cwd: folder.path });
  expect(gpg("--passphrase", "", "--quick-gen-key", "a@example.org").exitCode).toBe(0);
  await Bun.write(join(folder.path, "SHA256SUMS"), files.get("SHA256SUMS") ?? "");
  expect(gpg("--armor", "--detach-sign", "SHA256SUMS").exitCode).toBe(0);
  files.set("SHA256SUMS.asc", await Bun.file(join(folder.path, "SHA256SUMS.asc")).text());
  expect(gpg("--output", "keyring", "--export").exitCode).toBe(0);
  Bun.spawnSync(["gpgconf", "--homedir", home, "--kill", "all"]);
  const signed = { REHOME_KEYRING: join(folder.path, "keyring") };
  expect((await install(signed)).stderr).toBe("");
  expect(installed()).toBe("1.0.0 rehome-linux-x64");
  release("1.1.0");
  expect((await install(signed)).stderr).toContain("signature of SHA256SUMS is wrong");
  expect(installed()).toBe("1.0.0 rehome-linux-x64");
});

test.each([
  ["aarch64", 0, "Installed rehome 1.0.0 rehome-linux-arm64"],
  ["armv7l", 1, "rehome runs on x64 and arm64; this machine is armv7l."],
])("on %s", async (machine, code, words) => {
  const bin = toolsWithout("uname");
  const uname = `#!/bin/sh\n[ "$1" = -m ] && echo ${machine} || echo Linux\n`;
  writeFileSync(join(bin, "uname"), uname);
  chmodSync(join(bin, "uname"), 0o755);
  const { exitCode, stdout, stderr } = await install({ PATH: bin });
  expect([exitCode, stdout + stderr]).toEqual([code, expect.stringContaining(words)]);
});

test("shellcheck finds nothing in the scripts that others run", () => {
  const scripts = ["install.sh", ".ci/run", "packaging/container/make-root.sh"];
  const { exitCode, stdout } = Bun.spawnSync(["shellcheck", ...scripts], { cwd: root });
  expect([exitCode, stdout.toString()]).toEqual([0, ""]);
});
