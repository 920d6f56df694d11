/**
 * The second suite: tests in test-system/debian/ that need tools from Debian's packages (strace,
 * nginx, Chromium, ...), or those of its files that are named. Installs what is missing where
 * that is possible, and says loudly what could not be run.
 */
import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { misused } from "./arguments.ts";
import { attempt, keepFilesInMemory } from "./attempt.ts";

/** The packages by a tool of theirs, or by the path of a file where a package has none. */
const packages: Readonly<Record<string, string>> = {
  "/usr/aarch64-linux-gnu/lib/libc.so.6": "libc6-arm64-cross",
  "/usr/aarch64-linux-gnu/lib/libstdc++.so.6": "libstdc++6-arm64-cross",
  age: "age",
  "/lib/x86_64-linux-musl/libc.so": "musl",
  "/usr/bin/python3": "python3",
  "/usr/lib/php/20220829/curl.so": "php-curl",
  "/usr/lib/python3/dist-packages/requests": "python3-requests",
  "/usr/lib/x86_64-linux-gnu/lua/5.3/cjson.so": "lua-cjson",
  caddy: "caddy",
  chattr: "e2fsprogs",
  "chromium-headless-shell": "chromium-headless-shell",
  curl: "curl",
  fish: "fish",
  gpg: "gpg",
  gpgv: "gpgv",
  haproxy: "haproxy",
  ip: "iproute2",
  jq: "jq",
  "lua5.3": "lua5.3",
  make: "make",
  nginx: "nginx-light",
  pgbouncer: "pgbouncer",
  php: "php-cli",
  promtool: "prometheus",
  "qemu-aarch64-static": "qemu-user-static",
  rsync: "rsync",
  ruby: "ruby",
  shellcheck: "shellcheck",
  slowhttptest: "slowhttptest",
  strace: "strace",
  sudo: "sudo",
  "systemd-analyze": "systemd",
  unshare: "util-linux",
  "x86_64-linux-gnu-g++": "g++",
  wget: "wget",
  "/usr/lib/postgresql/15/bin/postgres": "postgresql-15",
  xz: "xz-utils",
  zsh: "zsh",
};

function missingPackages(): string[] {
  return Object.entries(packages)
    .filter(([what]) => (what.startsWith("/") ? !existsSync(what) : Bun.which(what) === null))
    .map(([, name]) => name);
}

const root = join(import.meta.dir, "..");
const suffix = ".test.ts";
const named = process.argv.slice(2).map((path) => basename(path));
const all = readdirSync(join(root, "test-system/debian")).filter((name) => name.endsWith(suffix));
const unknown = named.filter((name) => !all.includes(name));
if (unknown.length > 0) misused(`There is no ${unknown.join(" or ")} in test-system/debian.`);
const files = named.length === 0 ? all : named;

function run(...command: string[]): number {
  return (
    Bun.spawnSync(command, { cwd: root, stdio: ["ignore", "inherit", "inherit"] }).exitCode ?? 1
  );
}

const say = (text: string) => process.stdout.write(`${text}\n`);

const missing = missingPackages();
if (missing.length > 0) {
  const canInstall = Bun.which("apt-get") !== null && process.getuid?.() === 0;
  if (canInstall) {
    run("apt-get", "update", "-qq");
    run("apt-get", "install", "-y", "-qq", "--no-install-recommends", ...missing);
  }
  const still = missingPackages();
  if (still.length > 0) {
    say(`NOT RUN: the suite test-system/debian needs ${still.join(", ")}`);
    say(
      "NOT RUN: on Debian, as root, it installs them by itself; elsewhere only the first suite was run",
    );
    process.exit(process.env["CI"] === undefined ? 0 : 1);
  }
}

/** Tests that measure. The others run two files at a time: both keep a processor busy. */
const quiet: readonly string[] = ["hand-over", "slow-disk"];
/** Begun first, because they take longest. */
const long: readonly string[] = [
  "console",
  "packages",
  "console-script",
  "container",
  "slow-clients",
];

const isIn = (list: readonly string[], name: string) =>
  list.includes(name.slice(0, -suffix.length));

const rank = (name: string) => (isIn(long, name) ? 0 : 1);

/** Tests that seal files, or start a system of their own whose files are kept beside them. */
const onDisk: readonly string[] = ["guide", "limits-disk", "one-truth"];

const disk = tmpdir();
keepFilesInMemory();

/** Runs one file in a process of its own. */
const tryFile = (name: string) =>
  attempt([`./test-system/debian/${name}`], isIn(onDisk, name) ? { TMPDIR: disk } : {});

/** Runs files, `atOnce` at a time. Returns true if all pass. */
async function allPass(names: readonly string[], atOnce: number): Promise<boolean> {
  const waiting = [...names];
  let arePassed = true;
  const worker = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const { isPassed, text } = await tryFile(name);
      say(text);
      arePassed &&= isPassed;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return arePassed;
}

const [measuring, others] = [true, false].map((is) =>
  files.filter((name) => isIn(quiet, name) === is).toSorted((a, b) => rank(a) - rank(b)),
) as [string[], string[]];
const isPassed = await allPass(others, 2);
process.exit((await allPass(measuring, 1)) && isPassed ? 0 : 1);
