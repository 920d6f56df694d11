/**
 * `bun scripts/apt-tree.ts DIST OUT ADDRESS`: an apt repository of the Debian packages in DIST, as
 * files that any web server can serve at ADDRESS. `rehome.sources` is what a machine puts into
 * /etc/apt/sources.list.d.
 *
 * It is signed with the secret key of this account's gpg, if there is one, and the sources have the
 * public key. Without it, they say `Trusted: yes`, and HTTPS alone says that the files are the
 * publisher's.
 */
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { misused } from "./arguments.ts";

function run(command: readonly string[], cwd?: string): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(
    [...command],
    cwd === undefined ? {} : { cwd },
  );
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr.toString()}`);
  return stdout.toString();
}

const sha256 = (bytes: Uint8Array): string =>
  new Bun.CryptoHasher("sha256").update(bytes).digest("hex");

/** Writes the repository. Returns whether it is signed. */
function makeAptTree(dist: string, out: string, address: string, date: Date): boolean {
  const pool = "pool/main/r/rehome";
  mkdirSync(join(out, pool), { recursive: true });
  const sections = new Map<string, string[]>();
  for (const name of readdirSync(dist)
    .filter((each) => each.endsWith(".deb"))
    .toSorted()) {
    const bytes = readFileSync(join(dist, name));
    copyFileSync(join(dist, name), join(out, pool, name));
    const control = run(["dpkg-deb", "--field", join(dist, name)]).trimEnd();
    const architecture = /^Architecture: (.*)$/m.exec(control)?.[1] ?? "";
    const place = `Filename: ${pool}/${name}\nSize: ${bytes.length}\nSHA256: ${sha256(bytes)}\n`;
    const section = sections.get(architecture) ?? [];
    sections.set(architecture, [...section, `${control}\n${place}`]);
  }
  if (sections.size === 0) throw new Error(`There is no Debian package in ${dist}.`);
  const suite = join(out, "dists/stable");
  const sums: string[] = [];
  for (const [architecture, packages] of sections) {
    const folder = `main/binary-${architecture}`;
    mkdirSync(join(suite, folder), { recursive: true });
    const text = Buffer.from(packages.join("\n"));
    for (const [name, bytes] of [
      ["Packages", text],
      ["Packages.gz", Bun.gzipSync(text)],
    ] as const) {
      writeFileSync(join(suite, folder, name), bytes);
      sums.push(` ${sha256(bytes)} ${bytes.length} ${folder}/${name}`);
    }
  }
  const release = `Origin: rehome
Label: rehome
Suite: stable
Codename: stable
Components: main
Architectures: ${[...sections.keys()].join(" ")}
Date: ${date.toUTCString().replace("GMT", "+0000")}
SHA256:
${sums.join("\n")}
`;
  writeFileSync(join(suite, "Release"), release);
  const key = sign(suite);
  // An empty line would end the field.
  const lines = key?.trimEnd().replaceAll(/^$/gm, ".").replaceAll(/^/gm, " ");
  const trust = lines === undefined ? "Trusted: yes" : `Signed-By:\n${lines}`;
  const sources = `Types: deb\nURIs: ${address}\nSuites: stable\nComponents: main\n${trust}\n`;
  writeFileSync(join(out, "rehome.sources"), sources);
  return key !== undefined;
}

/** Returns the public key, as text, if there is a secret one to sign with. */
function sign(suite: string): string | undefined {
  const keys = Bun.which("gpg") === null ? "" : run(["gpg", "--batch", "--list-secret-keys"]);
  if (keys === "") return undefined;
  const gpg = ["gpg", "--batch", "--yes"];
  run([...gpg, "--clearsign", "--output", "InRelease", "Release"], suite);
  run([...gpg, "--armor", "--detach-sign", "--output", "Release.gpg", "Release"], suite);
  return run([...gpg, "--armor", "--export"]);
}

if (import.meta.main) {
  const [dist, out, address] = process.argv.slice(2);
  if (dist === undefined || out === undefined || address === undefined) {
    misused("say where the packages are, where to put the repository, and its address");
  }
  const isSigned = makeAptTree(dist, out, address, new Date());
  process.stdout.write(`${out}: ${isSigned ? "signed" : "not signed: its sources trust HTTPS"}\n`);
}
