/**
 * The second suite: tests in test/debian/ that need tools from Debian's packages (strace, faketime, Chromium, ...). Installs
 * what is missing where that is possible, and says loudly what could not be run.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";

const packages: Readonly<Record<string, string>> = {
  caddy: "caddy",
  chromium: "chromium",
  faketime: "faketime",
  nginx: "nginx-light",
  fish: "fish",
  promtool: "prometheus",
  "qemu-aarch64-static": "qemu-user-static",
  "systemd-analyze": "systemd",
  strace: "strace",
  zsh: "zsh",
};

const root = join(import.meta.dir, "..");
const folder = join(root, "test/debian");

function run(...command: string[]): number {
  return (
    Bun.spawnSync(command, { cwd: root, stdio: ["ignore", "inherit", "inherit"] }).exitCode ?? 1
  );
}

const say = (text: string) => process.stdout.write(`${text}\n`);

if (!existsSync(folder)) {
  say("NOT RUN: there is no test/debian yet");
  process.exit(0);
}
const missing = Object.entries(packages).filter(([tool]) => Bun.which(tool) === null);
if (missing.length > 0) {
  const canInstall = Bun.which("apt-get") !== null && process.getuid?.() === 0;
  const names = missing.map(([, name]) => name);
  if (canInstall) {
    run("apt-get", "update", "-qq");
    run("apt-get", "install", "-y", "-qq", "--no-install-recommends", ...names);
  }
  const still = Object.entries(packages).filter(([tool]) => Bun.which(tool) === null);
  if (still.length > 0) {
    say(`NOT RUN: the suite test/debian needs ${still.map(([, name]) => name).join(", ")}`);
    say(
      "NOT RUN: on Debian, as root, it installs them by itself; elsewhere only the first suite was run",
    );
    process.exit(process.env["CI"] === undefined ? 0 : 1);
  }
}
process.exit(run(process.execPath, "test", "--timeout", "30000", "./test/debian"));
