/**
 * The second suite: tests in test/debian/ that need tools from Debian's packages (strace, faketime,
 * Chromium, ...). Installs what is missing where that is possible, and says loudly what could not
 * be run.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The packages by a tool of theirs, or by the path of a file where a package has none. */
const packages: Readonly<Record<string, string>> = {
  "/usr/aarch64-linux-gnu/lib/libc.so.6": "libc6-arm64-cross",
  "/usr/aarch64-linux-gnu/lib/libstdc++.so.6": "libstdc++6-arm64-cross",
  age: "age",
  "/usr/bin/python3": "python3",
  "/usr/lib/php/20220829/curl.so": "php-curl",
  "/usr/lib/python3/dist-packages/requests": "python3-requests",
  "/usr/lib/x86_64-linux-gnu/lua/5.3/cjson.so": "lua-cjson",
  "aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu",
  apache2: "apache2-bin",
  caddy: "caddy",
  chattr: "e2fsprogs",
  chromium: "chromium",
  curl: "curl",
  faketime: "faketime",
  fish: "fish",
  go: "golang-go",
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
  slowhttptest: "slowhttptest",
  strace: "strace",
  sudo: "sudo",
  "systemd-analyze": "systemd",
  unshare: "util-linux",
  varnishd: "varnish",
  "x86_64-linux-gnu-g++": "g++",
  xz: "xz-utils",
  zsh: "zsh",
};

function missingPackages(): string[] {
  return Object.entries(packages)
    .filter(([what]) => (what.startsWith("/") ? !existsSync(what) : Bun.which(what) === null))
    .map(([, name]) => name);
}

const root = join(import.meta.dir, "..");

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
    say(`NOT RUN: the suite test/debian needs ${still.join(", ")}`);
    say(
      "NOT RUN: on Debian, as root, it installs them by itself; elsewhere only the first suite was run",
    );
    process.exit(process.env["CI"] === undefined ? 0 : 1);
  }
}
/**
 * Tests that share the machine: they measure, or use fixed paths, or ports that they chose before.
 * The others run two files at a time, as in the first suite.
 */
const alone: readonly string[] = [
  "console-lighthouse",
  "guide",
  "hand-over",
  "lighthouse",
  "limits-disk",
  "one-truth",
  "packages",
  "pooler",
  "proxies",
  "slow-disk",
  "systemd",
];

const suffix = ".test.ts";
const files = readdirSync(join(root, "test/debian")).filter((name) => name.endsWith(suffix));
const isAlone = (name: string) => alone.includes(name.slice(0, -suffix.length));

// Browsers, proxies and full disks answer in real time, and a busy machine may be late once. Bun
// shows the failure, and "(attempt 2)" behind the name of a test that passed only then.
function test(names: readonly string[], ...more: string[]): number {
  const paths = names.map((name) => `./test/debian/${name}`);
  return run(process.execPath, "test", "--timeout", "30000", "--retry", "1", ...more, ...paths);
}

const together = test(
  files.filter((name) => !isAlone(name)),
  "--parallel=2",
);
const apart = test(files.filter(isAlone));
process.exit(together === 0 ? apart : together);
