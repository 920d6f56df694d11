/**
 * `bun scripts/apt-tree.ts DIST OUT`: an apt repository of the Debian packages in DIST, as files
 * that any web server can serve:
 *
 *   deb [signed-by=/etc/apt/keyrings/rehome.gpg] https://HOST/ stable main
 *
 * It is signed with the secret key of this account's gpg, if there is one. Without it, sources have
 * to say `[trusted=yes]`, and HTTPS alone says that the files are the publisher's.
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
export function makeAptTree(dist: string, out: string, date: Date): boolean {
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
  return sign(out, suite);
}

function sign(out: string, suite: string): boolean {
  const keys = Bun.which("gpg") === null ? "" : run(["gpg", "--batch", "--list-secret-keys"]);
  if (keys === "") return false;
  const gpg = ["gpg", "--batch", "--yes"];
  run([...gpg, "--clearsign", "--output", "InRelease", "Release"], suite);
  run([...gpg, "--armor", "--detach-sign", "--output", "Release.gpg", "Release"], suite);
  run([...gpg, "--output", join(out, "rehome.gpg"), "--export"]);
  return true;
}

if (import.meta.main) {
  const [dist, out] = process.argv.slice(2);
  if (dist === undefined || out === undefined) misused("say where the packages are, and where to");
  const isSigned = makeAptTree(dist, out, new Date());
  const source = isSigned ? "[signed-by=/etc/apt/keyrings/rehome.gpg]" : "[trusted=yes]";
  process.stdout.write(`${out}: deb ${source} https://HOST/ stable main\n`);
}
