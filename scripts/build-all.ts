/**
 * Builds everything that is published: executables for four kinds of machine, a tarball of each,
 * Debian packages, a bill of materials (CycloneDX), and the checksums of all. The same commit gives
 * the same bytes, whenever and wherever it is built.
 *
 *   bun run build:all                     everything
 *   bun run build:all --only x64          some of the targets
 *   bun run build:all --preset 0          quickly and larger, as xz's presets go from 0 to 9
 */
import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  packagedUnit,
  settingsFile,
  unitName,
  unitOf,
} from "../src/features/operate/systemd/command.ts";
import { version } from "../src/version.ts";
import { argumentsOf, misused } from "./arguments.ts";
import { build } from "./build.ts";
import { billOfMaterials, notices } from "./licenses.ts";

const root = join(import.meta.dir, "..");
const out = join(root, "dist");

/** The targets, called as Bun's are, with Debian's name of the processor if it has a package. */
const targets: Readonly<Record<string, string | undefined>> = {
  x64: "amd64",
  arm64: "arm64",
  "x64-musl": undefined,
  "arm64-musl": undefined,
};

/** What there is to read and to copy, where README and the guides say that it is. */
const documents = [
  "*.md",
  "docs/**/*",
  "examples/*",
  "bench/*.md",
  "packaging/{caddy,grafana,haproxy,nginx,prometheus}/*",
].flatMap((glob) => [...new Bun.Glob(glob).scanSync(root)]);

/** A folder in which a package is laid out. Files have one mode, whatever the umask is. */
class Layout {
  constructor(readonly path: string) {}

  copy(from: string, to: string, mode = 0o644): void {
    const file = this.#at(to);
    copyFileSync(join(root, from), file);
    chmodSync(file, mode);
  }

  write(to: string, text: string): void {
    writeFileSync(this.#at(to), text);
    chmodSync(join(this.path, to), 0o644);
  }

  /** What is to be read, below `folder`. The license is `license` there. */
  document(folder: string, license: string): void {
    for (const file of documents) this.copy(file, join(folder, file));
    this.copy("LICENSE", join(folder, license));
    this.write(join(folder, "THIRD-PARTY-NOTICES"), notices());
  }

  #at(to: string): string {
    const file = join(this.path, to);
    mkdirSync(dirname(file), { recursive: true });
    return file;
  }
}

/** Makes the tarball `file` of the executable. */
function makeTarball(executable: string, work: string, preset: string, file: string): void {
  const name = `rehome-${version}`;
  const layout = new Layout(join(work, "tar", name));
  layout.copy(executable, "rehome", 0o755);
  layout.document("", "LICENSE");
  layout.write(join("systemd", unitName), unitOf("/usr/local/bin/rehome"));
  layout.write("systemd/rehome.default", settingsFile.text);
  const alike = `--sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime=@${dateSeconds}`;
  run(`tar ${alike} -c ${name} | xz -T2 -${preset} >'${file}'`, join(work, "tar"));
}

/** Makes the Debian package `file` of the executable. At preset 0 it is not compressed. */
function makeDeb(
  executable: string,
  work: string,
  preset: string,
  architecture: string,
  file: string,
): void {
  const layout = new Layout(join(work, "deb"));
  layout.copy(executable, "usr/bin/rehome", 0o755);
  layout.write(packagedUnit, unitOf());
  layout.write(settingsFile.path, settingsFile.text);
  layout.document("usr/share/doc/rehome", "copyright");
  const size = run("du -sk deb | cut -f 1", work);
  layout.write("DEBIAN/control", control(architecture, size));
  layout.write("DEBIAN/conffiles", `${settingsFile.path}\n`);
  for (const script of ["postinst", "prerm", "postrm"]) {
    layout.copy(join("packaging/debian", script), join("DEBIAN", script), 0o755);
  }
  const compression = preset === "0" ? "-Znone" : `-Zxz -z${preset}`;
  const date = `SOURCE_DATE_EPOCH=${dateSeconds}`;
  run(`${date} dpkg-deb --root-owner-group ${compression} --build deb '${file}' >/dev/null`, work);
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

/** Runs shell `words` in `cwd` and returns what they printed. Throws with what they said. */
function run(words: string, cwd: string): string {
  const command = ["bash", "-o", "pipefail", "-c", `umask 022; ${words}`];
  const env = { ...process.env, LC_ALL: "C" };
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd, env });
  if (exitCode !== 0) throw new Error(`${words}\n${stderr.toString()}`);
  return stdout.toString().trim();
}

const { values } = argumentsOf({
  options: {
    only: { type: "string", multiple: true, default: Object.keys(targets) },
    preset: { type: "string", default: "6" },
  },
});
const { only, preset } = values;
const unknown = only.find((name) => !Object.hasOwn(targets, name));
if (unknown !== undefined) {
  misused(`there is no target ${unknown}; there are ${Object.keys(targets).join(", ")}`);
}
if (!/^\d$/.test(preset)) misused(`--preset must be a digit, not "${preset}"`);

/** When the sources were last changed, in Unix time: what every file of a package is dated. */
const dateSeconds = run("git log -1 --format=%ct", root);
const files: string[] = [];
/** The file of `dist/` that is made next. */
const next = (name: string) => {
  files.push(name);
  return join(out, name);
};
for (const target of only) {
  const work = join(out, `.work-${target}`);
  rmSync(work, { recursive: true, force: true });
  // The file's name is in the file, so every one of them is built as `rehome`.
  const executable = join("dist", `.work-${target}`, "rehome");
  await build(executable, `bun-linux-${target}`);
  copyFileSync(join(root, executable), next(`rehome-linux-${target}`));
  makeTarball(executable, work, preset, next(`rehome-linux-${target}.tar.xz`));
  const architecture = targets[target];
  if (architecture !== undefined) {
    const file = next(`rehome_${version}_${architecture}.deb`);
    makeDeb(executable, work, preset, architecture, file);
  }
  rmSync(work, { recursive: true });
}
writeFileSync(next("rehome.cdx.json"), billOfMaterials());
const sums = run(`sha256sum ${files.toSorted().join(" ")}`, out);
writeFileSync(join(out, "SHA256SUMS"), `${sums}\n`);
process.stdout.write([...files, "SHA256SUMS"].map((name) => `dist/${name}\n`).join(""));
