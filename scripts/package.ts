/** Puts an executable and its files into a tarball and a Debian package, byte for byte alike. */
import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  packagedUnit,
  settingsFile,
  unitName,
  unitOf,
} from "../src/features/operate/systemd/command.ts";
import { version } from "../src/version.ts";
import { notices } from "./licenses.ts";

const root = join(import.meta.dir, "..");
const packaging = join(root, "packaging");

export interface Built {
  readonly executable: string;
  /** A folder to work in. */
  readonly work: string;
  /** What every file is dated, in Unix time. */
  readonly dateSeconds: number;
  /** How hard xz tries, from 0 to 9. At 0 a Debian package is not compressed. */
  readonly preset: number;
}

/** Makes `NAME.tar.xz` in `out` and returns its file name. */
export function makeTarball(built: Built, name: string, out: string): string {
  const folder = join(built.work, "tar", `rehome-${version}`);
  clear(folder);
  copy(built.executable, join(folder, "rehome"), 0o755);
  copy(join(root, "LICENSE"), join(folder, "LICENSE"));
  write(join(folder, "THIRD-PARTY-NOTICES"), notices());
  copyDocuments(folder);
  write(join(folder, "systemd", unitName), unitOf("/usr/local/bin/rehome"));
  write(join(folder, "systemd/rehome.default"), settingsFile.text);
  const file = `${name}.tar.xz`;
  run(
    `tar ${tarFlags(built)} -c rehome-${version} | xz -T2 -${built.preset} > ${quoted(join(out, file))}`,
    dirname(folder),
  );
  return file;
}

/** Makes a Debian package for `architecture` in `out` and returns its file name. */
export function makeDeb(built: Built, architecture: string, out: string): string {
  const folder = join(built.work, "deb");
  clear(folder);
  copy(built.executable, join(folder, "usr/bin/rehome"), 0o755);
  write(join(folder, packagedUnit), unitOf());
  write(join(folder, settingsFile.path), settingsFile.text);
  const shared = join(folder, "usr/share/doc/rehome");
  copyDocuments(shared);
  copy(join(root, "LICENSE"), join(shared, "copyright"));
  write(join(shared, "THIRD-PARTY-NOTICES"), notices());
  const size = Bun.spawnSync(["du", "-sk", folder]).stdout.toString().split("\t")[0] ?? "0";
  write(join(folder, "DEBIAN/control"), control(architecture, size));
  write(join(folder, "DEBIAN/conffiles"), `${settingsFile.path}\n`);
  for (const script of ["postinst", "prerm", "postrm"]) {
    copy(join(packaging, "debian", script), join(folder, "DEBIAN", script), 0o755);
  }
  const file = `rehome_${version}_${architecture}.deb`;
  const compression = built.preset === 0 ? "-Znone" : `-Zxz -z${built.preset}`;
  run(
    `dpkg-deb --root-owner-group ${compression} --build deb ${quoted(join(out, file))} >/dev/null`,
    built.work,
    { SOURCE_DATE_EPOCH: String(built.dateSeconds) },
  );
  return file;
}

/** What there is to read and to copy, where README and the guides say that it is. */
const documents = [
  "*.md",
  "docs/**/*",
  "examples/*",
  "bench/*.md",
  "packaging/{caddy,grafana,haproxy,nginx,prometheus}/*",
];

function copyDocuments(folder: string): void {
  for (const file of documents.flatMap((glob) => [...new Bun.Glob(glob).scanSync(root)])) {
    // With one mode, whatever the umask was under which this repository was cloned.
    copy(join(root, file), join(folder, file));
  }
}

function control(architecture: string, installedKib: string): string {
  return `Package: rehome
Version: ${version}
Architecture: ${architecture}
Maintainer: rehome maintainers <rehome@localhost>
Installed-Size: ${installedKib}
Depends: libc6 (>= 2.17), passwd
Section: net
Priority: optional
Description: animal-adoption catalogue as a service
 An HTTP and JSON store of animals for adoption, with API keys, exact rate
 limits and durable storage, in one executable that needs nothing else.
`;
}

function tarFlags({ dateSeconds }: Built): string {
  return `--sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime=@${dateSeconds}`;
}

function clear(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
}

function copy(from: string, to: string, mode = 0o644): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
  chmodSync(to, mode);
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o644);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Runs shell `words` in `cwd`. Throws with what it said when it fails. */
function run(words: string, cwd: string, env: Record<string, string> = {}): void {
  const { exitCode, stderr } = Bun.spawnSync(
    ["bash", "-o", "pipefail", "-c", `umask 022; ${words}`],
    {
      cwd,
      env: { ...process.env, ...env, LC_ALL: "C" },
    },
  );
  if (exitCode !== 0) throw new Error(`${words}\n${stderr.toString()}`);
}
