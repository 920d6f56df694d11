/** Debian's packages that the system tests and the long run need, installed where that is possible. */
import { existsSync } from "node:fs";

/** By a tool of theirs, or by the path of a file where a package has none. */
type Packages = Readonly<Record<string, string>>;

export const systemPackages: Packages = {
  "/usr/include/dlfcn.h": "libc6-dev",
  gcc: "gcc",
  "/usr/lib/postgresql/15/bin/postgres": "postgresql-15",
  age: "age",
  "/usr/bin/python3": "python3",
  bindfs: "bindfs",
  caddy: "caddy",
  chattr: "e2fsprogs",
  "chromium-headless-shell": "chromium-headless-shell",
  curl: "curl",
  fish: "fish",
  haproxy: "haproxy",
  ip: "iproute2",
  jq: "jq",
  nginx: "nginx-light",
  pgbouncer: "pgbouncer",
  promtool: "prometheus",
  rsync: "rsync",
  shellcheck: "shellcheck",
  strace: "strace",
  sudo: "sudo",
  "systemd-analyze": "systemd",
  unshare: "util-linux",
  zsh: "zsh",
};

export const longPackages: Packages = {
  ...systemPackages,
  WebKitWebDriver: "webkit2gtk-driver",
  Xvfb: "xvfb",
  "apt-ftparchive": "apt-utils",
  "firefox-esr": "firefox-esr",
  "/usr/aarch64-linux-gnu/lib/libc.so.6": "libc6-arm64-cross",
  "/usr/aarch64-linux-gnu/lib/libstdc++.so.6": "libstdc++6-arm64-cross",
  "/lib/x86_64-linux-musl/libc.so": "musl",
  "/usr/lib/php/20220829/curl.so": "php-curl",
  gpg: "gpg",
  gpgv: "gpgv",
  make: "make",
  php: "php-cli",
  "qemu-aarch64-static": "qemu-user-static",
  slowhttptest: "slowhttptest",
  "x86_64-linux-gnu-g++": "g++",
  wget: "wget",
  xz: "xz-utils",
};

const missing = (packages: Packages): string[] =>
  Object.entries(packages)
    .filter(([what]) => (what.startsWith("/") ? !existsSync(what) : Bun.which(what) === null))
    .map(([, name]) => name);

const run = (...command: string[]) =>
  void Bun.spawnSync(command, { stdio: ["ignore", "inherit", "inherit"] });

/** Installs what is missing, as root on Debian. Ends the run, in words, where that is not possible. */
export function needPackages(packages: Packages): void {
  const wanted = missing(packages);
  if (wanted.length === 0) return;
  if (Bun.which("apt-get") !== null && process.getuid?.() === 0) {
    run("apt-get", "update", "-qq");
    run("apt-get", "install", "-y", "-qq", "--no-install-recommends", ...wanted);
  }
  const still = missing(packages);
  if (still.length === 0) return;
  const how = "On Debian, as root, this installs them by itself.";
  process.stdout.write(`NOT RUN: these tests need ${still.join(", ")}. ${how}\n`);
  process.exit(1);
}
