/**
 * A release as a maintainer makes it, in a clone, and what comes of it: the same bytes each time,
 * packages that come and go cleanly, an apt repository, the arm64 executable at work. The tests of
 * the release are left out, because this is one of them, and so are the executables for musl.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callerOf } from "../../test/helpers/ask.ts";
import { serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { finished } from "../../test/helpers/finished.ts";

const root = join(import.meta.dir, "../..");
/** To build an executable and to run one in an emulator takes its time. */
const slowMs = 900_000;
const folder = temporaryFolder();
/** Seen from a copy of this system too, where the folder is /mnt/out. */
const clone = join(folder.path, "clone");
const out = join(clone, "dist");

async function run(
  command: readonly string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Promise<{ exitCode: number; text: string }> {
  const { exitCode, stdout, stderr } = await finished(command, {
    cwd: options.cwd ?? folder.path,
    env: { ...process.env, ...options.env },
  });
  return { exitCode, text: stdout + stderr };
}

async function succeed(cwd: string, ...command: string[]): Promise<string> {
  const { exitCode, text } = await run(command, { cwd });
  if (exitCode !== 0) throw new Error(`${command.join(" ")} ended with ${exitCode}:\n${text}`);
  return text;
}

beforeAll(async () => {
  await succeed(root, "git", "clone", "--quiet", root, clone);
  const git = (...args: string[]) => succeed(clone, "git", ...args);
  await git("checkout", "--quiet", "-B", "main");
  await succeed(clone, process.execPath, "install", "--frozen-lockfile");
  await succeed(clone, "sed", "-i", 's/^\\( *"test":\\).*/\\1 "true",/', "package.json");
  // They get no Debian package, and their tarballs are made as the others are.
  await succeed(clone, "sed", "-i", '/^  ".*-musl": undefined/d', "scripts/build-all.ts");
  const changelog = readFileSync(join(clone, "CHANGELOG.md"), "utf8");
  const changed = changelog.replace("## Unreleased\n", "## Unreleased\n\n- A thing.\n");
  await Bun.write(join(clone, "CHANGELOG.md"), changed);
  await git("config", "user.email", "a@example.org");
  await git("config", "user.name", "a");
  // The account that runs the tests may sign, or have hooks.
  for (const what of ["commit.gpgSign", "tag.gpgSign"]) await git("config", what, "false");
  await git("config", "core.hooksPath", "/dev/null");
  await git("commit", "--quiet", "--all", "--message", "leave the tests and musl out");
  await succeed(clone, process.execPath, "run", "release", "97.8.9");
  await succeed(clone, process.execPath, "run", "build:all", "--preset", "0");
  await succeed(out, "sha256sum", "--check", "--quiet", "SHA256SUMS");
}, slowMs);
afterAll(() => folder[Symbol.dispose]());

test("a release is a commit, a tag, and files of that version", async () => {
  const git = (...args: string[]) => succeed(clone, "git", ...args);
  expect(await git("status", "--porcelain")).toBe("");
  expect(await git("log", "-1", "--format=%s %D")).toMatch(
    /^chore\(release\): 97\.8\.9 .*\btag: v97\.8\.9\b/,
  );
  expect(readFileSync(join(clone, "CHANGELOG.md"), "utf8")).toMatch(
    /^## Unreleased\n\n## 97\.8\.9 - \d{4}-\d\d-\d\d\n\n- A thing\.\n/m,
  );
  const files = readdirSync(out).filter((name) => name.startsWith("rehome_"));
  expect(files.toSorted()).toEqual(["rehome_97.8.9_amd64.deb", "rehome_97.8.9_arm64.deb"]);
  expect(await succeed(out, "./rehome-linux-x64", "--version")).toBe("97.8.9\n");
});

test.each([
  ["the tarball", "tar tvf rehome-linux-x64.tar.xz", /^rehome-[\d.]+\//],
  ["the Debian package", "dpkg-deb --contents *_amd64.deb", /^\.\/usr\/share\/doc\/rehome\//],
])("%s has files of root, and what README and the guides lead to", async (_, list, folderOf) => {
  const { text } = await run(["sh", "-c", list], { cwd: out });
  expect(text).not.toMatch(/^\S+ (?!0\/0|root\/root)/m);
  expect(new Set(text.match(/\d{4}-\d\d-\d\d \d\d:\d\d/g)).size).toBe(1);
  const paths = text.split("\n").map((line) => line.replace(/^.* \d\d:\d\d /, ""));
  const names = paths.map((path) => path.replace(folderOf, "").replace(/\/$/, ""));
  const readme = await Bun.file(join(root, "README.md")).text();
  const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link = ""]) => link);
  const proxies = ["nginx", "haproxy", "caddy"].map((proxy) => `packaging/${proxy}`);
  // The license has another name in Debian's package.
  const wanted = [...links, ...proxies, "THIRD-PARTY-NOTICES"].filter((name) => name !== "LICENSE");
  expect(wanted.filter((name) => !names.includes(name))).toEqual([]);
});

describe("the Debian package", () => {
  /** Runs a script in a copy of this system, which ends with it. */
  async function inCopy(script: string): Promise<string> {
    const file = join(folder.path, "script");
    writeFileSync(file, script);
    const mounts = `
      set -e
      work=${folder.path}/copy
      mkdir -p $work; mount -t tmpfs tmpfs $work; mkdir $work/upper $work/work $work/root
      mount -t overlay overlay -o lowerdir=/,upperdir=$work/upper,workdir=$work/work $work/root
      mount -t tmpfs tmpfs $work/root/run
      mount -t proc proc $work/root/proc
      mount --rbind /dev $work/root/dev
      mkdir -p $work/root/mnt/out; mount --bind ${folder.path} $work/root/mnt/out
      export PATH=/usr/sbin:/usr/bin:/sbin:/bin
      exec chroot $work/root /bin/sh -eu /mnt/out/script`;
    const { exitCode, text } = await run(["unshare", "--mount", "bash", "-c", mounts]);
    expect([text, exitCode]).toEqual([text, 0]);
    return text;
  }

  test("comes, is upgraded with its data and settings kept, and purge leaves nothing", async () => {
    // The same package with a higher version: unpacked, renamed, packed again.
    const newer = `
        dpkg-deb --raw-extract clone/dist/rehome_*_amd64.deb newer
        sed -i 's/^Version: .*/&+next/' newer/DEBIAN/control
        dpkg-deb -Znone --build newer newer.deb >/dev/null; rm -rf newer`;
    expect((await run(["bash", "-euc", newer])).exitCode).toBe(0);
    const text = await inCopy(`
        dpkg -i /mnt/out/clone/dist/rehome_*_amd64.deb >/dev/null
        stat -c 'data %a %U %G' /var/lib/rehome
        su -s /bin/sh rehome -c 'rehome keys create --plan free --name a --data /var/lib/rehome --json' >/dev/null
        echo REHOME_PORT=9999 >>/etc/default/rehome
        dpkg -i /mnt/out/newer.deb >/dev/null </dev/null
        dpkg-query -W -f 'version \${Version}\\n' rehome
        tail -1 /etc/default/rehome
        su -s /bin/sh rehome -c 'rehome keys list --data /var/lib/rehome --json' | grep -c '"plan": "free"'
        systemctl is-enabled rehome.service
        systemd-analyze verify rehome.service && echo verified
        dpkg -r rehome >/dev/null; ls /var/lib/rehome
        install -D /dev/null /var/log/rehome/access.log
        dpkg -P rehome >/dev/null
        ls -d /var/lib/rehome /var/log/rehome /etc/default/rehome /usr/bin/rehome 2>&1 | grep -c 'No such file' || true
        getent passwd rehome || echo 'no account'`);
    expect(text).toContain("data 700 rehome rehome\n");
    expect(text).toMatch(/version [\d.]+\+next\nREHOME_PORT=9999\n1\nenabled\n/);
    expect(text).toContain("verified\n");
    expect(text).toMatch(/\nrehome\.db\n/);
    expect(text).toContain("\n4\nno account\n");
  });

  test("is installed by apt from the repository that is made of it, which a key signs", async () => {
    const home = join(folder.path, "gpg");
    mkdirSync(home, { mode: 0o700 });
    const env = { GNUPGHOME: home };
    const maker = ["gpg", "--batch", "--quiet", "--passphrase", "", "--quick-gen-key", "a@b.org"];
    expect((await run(maker, { env })).exitCode).toBe(0);
    const tree = join(folder.path, "apt");
    const command = ["sh", "packaging/apt/make-tree.sh", "dist", tree, "file:/mnt/out/apt"];
    expect(await run(command, { cwd: clone, env })).toMatchObject({ exitCode: 0 });
    await run(["gpgconf", "--kill", "all"], { env });
    const text = await inCopy(`
        rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/*
        cp /mnt/out/apt/rehome.sources /etc/apt/sources.list.d/
        apt-get -qq -o APT::Sandbox::User=root update
        apt-get -qq -y install rehome >/dev/null </dev/null
        rehome --version; apt-cache policy rehome | grep -c 'file:/mnt/out/apt stable/main'
        grep -c 'BEGIN PGP' /etc/apt/sources.list.d/rehome.sources`);
    expect(text).toContain("97.8.9\n1\n1\n");
  });
});

test("the arm64 executable migrates, makes a key, serves and stops on a Raspberry Pi's processor", async () => {
  const emulator = ["qemu-aarch64-static", "-cpu", "cortex-a53", "-L", "/usr/aarch64-linux-gnu"];
  const started = { command: emulator, path: join(out, "rehome-linux-arm64") };
  await using server = await serve(join(folder.path, "pi"), ["--first-key"], started);
  const key = /rehome_live_\w+/.exec(server.stdout())?.[0] ?? "";
  expect((await callerOf(server, key).create("Rex")).status).toBe(201);
  expect(await server.stop()).toBe(0);
});
