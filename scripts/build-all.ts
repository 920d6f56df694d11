/**
 * Builds everything that is published: executables for four kinds of machine, a tarball of each,
 * Debian packages, a bill of materials (CycloneDX), and the checksums of all. The same commit gives
 * the same bytes, whenever and wherever it is built.
 *
 *   bun run build:all                     everything, well compressed
 *   bun run build:all --only x64          some of the targets
 *   bun run build:all --preset 0          the same packages, quickly and larger, to try them
 *   bun run build:all --no-packages       executables alone
 *   bun run build:all --out DIR           elsewhere than dist/
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { argumentsOf, misused, presetOf } from "./arguments.ts";
import { build } from "./build.ts";
import { billOfMaterials } from "./licenses.ts";
import { makeDeb, makeTarball, type Built } from "./package.ts";

const root = join(import.meta.dir, "..");

interface Target {
  readonly name: string;
  /** Bun's name of it. */
  readonly bun: string;
  /** Debian's name of the processor, where there is a package for it. */
  readonly debian?: string;
}

const targets: readonly Target[] = [
  { name: "x64", bun: "bun-linux-x64", debian: "amd64" },
  { name: "arm64", bun: "bun-linux-arm64", debian: "arm64" },
  { name: "x64-musl", bun: "bun-linux-x64-musl" },
  { name: "arm64-musl", bun: "bun-linux-arm64-musl" },
];

/** What the executables are made of, for programs that look for known weaknesses. */
const sbomName = "rehome.cdx.json";

/** When the sources were last changed, in Unix time: what every file of a package is dated. */
function sourceDate(): number {
  const given = process.env["SOURCE_DATE_EPOCH"];
  if (given !== undefined) return Number(given);
  const { stdout, exitCode } = Bun.spawnSync(["git", "log", "-1", "--format=%ct"], { cwd: root });
  if (exitCode !== 0) throw new Error("no commit to date the build by: set SOURCE_DATE_EPOCH");
  return Number(stdout.toString());
}

interface BuildAllOptions {
  /** An absolute path. */
  readonly out: string;
  readonly only?: readonly string[] | undefined;
  readonly withPackages: boolean;
  /** How hard xz tries, from 0 to 9. */
  readonly preset: number;
}

/** Builds what `options` ask for. Returns the names of the files in `out`. */
async function buildAll({ out, only, withPackages, preset }: BuildAllOptions): Promise<string[]> {
  mkdirSync(out, { recursive: true });
  const work = join(out, `.work-${process.pid}`);
  const files: string[] = [];
  const made = (name: string) => {
    files.push(name);
    process.stdout.write(`${join(out, name)}\n`);
  };
  try {
    for (const target of targets.filter(({ name }) => only === undefined || only.includes(name))) {
      const name = `rehome-linux-${target.name}`;
      // The file's name is in the file, so every one of them is built as `rehome`.
      await build(join(work, target.name, "rehome"), target.bun);
      renameSync(join(work, target.name, "rehome"), join(out, name));
      made(name);
      if (!withPackages) continue;
      const built: Built = {
        executable: join(out, name),
        work: join(work, `${target.name}-package`),
        dateSeconds: sourceDate(),
        preset,
      };
      made(makeTarball(built, name, out));
      if (target.debian !== undefined) made(makeDeb(built, target.debian, out));
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  if (withPackages) {
    writeFileSync(join(out, sbomName), billOfMaterials(sourceDate()));
    made(sbomName);
  }
  const sums = files
    .toSorted()
    .map((name) => `${sha256(join(out, name))}  ${name}\n`)
    .join("");
  writeFileSync(join(out, "SHA256SUMS"), sums);
  made("SHA256SUMS");
  return files;
}

function sha256(file: string): string {
  return new Bun.CryptoHasher("sha256").update(readFileSync(file)).digest("hex");
}

if (import.meta.main) {
  const { values } = argumentsOf({
    allowNegative: true,
    options: {
      only: { type: "string", multiple: true },
      out: { type: "string", default: join(root, "dist") },
      packages: { type: "boolean", default: true },
      preset: { type: "string", default: "6" },
    },
  });
  const names = targets.map(({ name }) => name);
  const unknown = values.only?.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    misused(`there is no target ${unknown}; there are ${names.join(", ")}`);
  }
  await buildAll({
    out: resolve(values.out),
    only: values.only,
    withPackages: values.packages,
    preset: presetOf(values.preset),
  });
}
