/** Debian's packages that the system tests and the long run need, installed where that is possible. */
export const systemPackages =
  "age bindfs caddy chromium-headless-shell curl e2fsprogs gcc gpg gpg-agent gpgv haproxy iproute2 " +
  "jq libc6-dev nginx-light php-cli php-curl postgresql-15 prometheus python3 python3-requests " +
  "rsync shellcheck strace sudo systemd util-linux";

export const longPackages =
  `${systemPackages} apt-utils firefox-esr g++ libc6-arm64-cross libstdc++6-arm64-cross make musl ` +
  "qemu-user-static slowhttptest webkit2gtk-driver xvfb xz-utils";

const run = (...command: string[]) =>
  void Bun.spawnSync(command, { stdio: ["ignore", "inherit", "inherit"] });

function missing(packages: string): string[] {
  const names = packages.split(" ");
  if (Bun.which("dpkg-query") === null) return names;
  const query = ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Package}\n", ...names];
  const installed = new Set(Bun.spawnSync(query).stdout.toString().split("\n"));
  return names.filter((name) => !installed.has(`installed ${name}`));
}

/** Installs what is missing, as root on Debian. Ends the run, in words, where that is not possible. */
export function needPackages(packages: string): void {
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
