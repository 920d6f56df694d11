/** What others wrote of the executable: packages by the lock file, and what Bun links. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "..");

export interface InsidePackage {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly license: string;
  /** As the lock file has it: the algorithm, a dash and the hash in base64. */
  readonly integrity: string;
  readonly homepage: string;
  /** The license in full. */
  readonly text: string;
}

interface LockInfo {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalPeers?: readonly string[];
}
type Lock = {
  readonly workspaces: { readonly "": { readonly dependencies: Readonly<Record<string, string>> } };
  readonly packages: Readonly<
    Record<string, readonly [id: string, registry: string, info: LockInfo, integrity: string]>
  >;
};

/** The packages that the program depends on, also through others, by their names. */
export function insidePackages(
  lockText = readFileSync(join(root, "bun.lock"), "utf8"),
): InsidePackage[] {
  const lock = Bun.JSONC.parse(lockText) as Lock;
  const found = new Map<string, InsidePackage>();
  const visit = (from: readonly string[], name: string): void => {
    const path = resolved(lock, from, name);
    if (path === undefined || found.has(path)) return;
    const [id, , info, integrity] = lock.packages[path] ?? (["", "", {}, ""] as const);
    found.set(path, describe(path, id, integrity));
    const peers = Object.keys(info.peerDependencies ?? {});
    const needed = peers.filter((each) => info.optionalPeers?.includes(each) !== true);
    for (const each of [...Object.keys(info.dependencies ?? {}), ...needed]) {
      visit(segments(path), each);
    }
  };
  for (const name of Object.keys(lock.workspaces[""].dependencies)) visit([], name);
  return [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The packages that a path of the lock file leads through: `@a/b/c` is c inside of @a/b. */
function segments(path: string): string[] {
  return path.match(/@[^/]+\/[^/]+|[^/]+/g) ?? [];
}

/** Where `name` lies for a package at `from`: its own copy, or that of a package around it. */
function resolved(lock: Lock, from: readonly string[], name: string): string | undefined {
  for (let depth = from.length; depth >= 0; depth -= 1) {
    const path = [...from.slice(0, depth), name].join("/");
    if (path in lock.packages) return path;
  }
  return undefined;
}

interface Manifest {
  readonly license?: string;
  readonly homepage?: string;
  readonly author?: string | { readonly name?: string };
}

function describe(path: string, id: string, integrity: string): InsidePackage {
  const [, name = "", version = ""] = /^(.+)@([^@]+)$/.exec(id) ?? [];
  const folder = join(root, "node_modules", segments(path).join("/node_modules/"));
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  const { license = "NOASSERTION", homepage } = manifest;
  return {
    name,
    version,
    license,
    integrity,
    homepage: homepage ?? `https://www.npmjs.com/package/${name}`,
    text: licenseText(folder) ?? standardText(license, name, manifest),
  };
}

function licenseText(folder: string): string | undefined {
  const file = readdirSync(folder).find((each) =>
    /^licen[cs]e(?:-mit)?(?:\.(?:md|txt))?$/i.test(each),
  );
  return file === undefined ? undefined : tidy(readFileSync(join(folder, file), "utf8"));
}

/** The text of a license whose package carries none. */
function standardText(license: string, name: string, { author }: Manifest): string {
  const holder = (typeof author === "string" ? author : author?.name) ?? `the authors of ${name}`;
  if (license === "MIT") {
    const own = tidy(readFileSync(join(root, "LICENSE"), "utf8"));
    return own.replace(/^Copyright .*$/m, `Copyright (c) ${holder}`);
  }
  const other = join(root, "node_modules/prom-client/LICENSE");
  if (license === "Apache-2.0" && existsSync(other)) return tidy(readFileSync(other, "utf8"));
  throw new Error(`${name} carries no text of its license, ${license}`);
}

function tidy(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
    .trim();
}
