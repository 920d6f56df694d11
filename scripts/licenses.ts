/**
 * The notices that `rehome licenses` prints and packages carry as THIRD-PARTY-NOTICES, from the
 * lock file and the packages that it names. The build puts them into the executable.
 * `bun run licenses` prints them; with `--sbom FILE` it writes the bill of materials.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { version as bunVersion } from "../node_modules/bun/package.json";
import { version } from "../package.json";

const root = join(import.meta.dir, "..");
const rule = "-".repeat(80);

/**
 * What Bun 1.4 links into every executable that it makes, as its LICENSE.md lists it for Linux, and
 * SQLite, which that file leaves out.
 */
const linkedParts = `\
JavaScriptCore and WebKit: LGPL-2.0-or-later, https://github.com/oven-sh/webkit
boringssl: OpenSSL AND ISC AND MIT, https://boringssl.googlesource.com/boringssl/
brotli: MIT, https://github.com/google/brotli
libarchive: BSD-2-Clause, https://github.com/libarchive/libarchive
lol-html: BSD-3-Clause, https://github.com/cloudflare/lol-html
ls-hpack: MIT, https://github.com/litespeedtech/ls-hpack
ls-qpack: MIT, https://github.com/litespeedtech/ls-qpack
lsquic: MIT AND BSD-3-Clause, https://github.com/litespeedtech/lsquic
mimalloc: MIT, https://github.com/microsoft/mimalloc
picohttpparser: MIT, https://github.com/h2o/picohttpparser
zstd: BSD-3-Clause, https://github.com/facebook/zstd
simdutf: Apache-2.0, https://github.com/simdutf/simdutf
tinycc: LGPL-2.1-only, https://github.com/tinycc/tinycc
uSockets: Apache-2.0, https://github.com/uNetworking/uSockets
uWebSockets (a fork): Apache-2.0, https://github.com/jarred-sumner/uwebsockets
zlib-ng: Zlib, https://github.com/zlib-ng/zlib-ng
c-ares: MIT, https://github.com/c-ares/c-ares
libicu: ICU, https://github.com/unicode-org/icu
libbase64: BSD-2-Clause, https://github.com/aklomp/base64
libdeflate: MIT, https://github.com/ebiggers/libdeflate
libjpeg-turbo: BSD-3-Clause AND IJG AND Zlib, https://github.com/libjpeg-turbo/libjpeg-turbo
libspng: BSD-2-Clause, https://github.com/randy408/libspng
libwebp: BSD-3-Clause, https://chromium.googlesource.com/webm/libwebp
highway: Apache-2.0, https://github.com/google/highway
uucode: MIT, https://github.com/jacobsandlund/uucode
TigerBeetle (its input and output): Apache-2.0, https://github.com/tigerbeetle/tigerbeetle
LLVM libc++abi (a part): Apache-2.0 WITH LLVM-exception, https://github.com/llvm/llvm-project
esbuild (ported parts): MIT, https://github.com/evanw/esbuild
SQLite: blessing, https://sqlite.org/copyright.html
Bun carries these packages for Node's modules, each under the MIT license: acorn, acorn-walk, assert,
browserify-zlib, buffer, constants-browserify, crypto-browserify, domain-browser, events,
https-browserify, os-browserify, path-browserify, process, punycode, querystring-es3,
stream-browserify, stream-http, string_decoder, timers-browserify, tty-browserify, url, util,
vm-browserify.`;

export interface InsidePackage {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly license: string;
  /** As the lock file has it: the algorithm, a dash and the hash in base64. */
  readonly integrity: string;
  /** The license in full. */
  readonly text: string;
}

interface Dependencies {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalPeers?: readonly string[];
}
type Lock = {
  readonly workspaces: { readonly "": Dependencies };
  readonly packages: Readonly<
    Record<string, readonly [id: string, registry: string, info: Dependencies, integrity: string]>
  >;
};

/** The packages that the program depends on, also through others, by their names. */
export function insidePackages(): InsidePackage[] {
  const lock = Bun.JSONC.parse(readFileSync(join(root, "bun.lock"), "utf8")) as Lock;
  const found = new Map<string, InsidePackage>();
  const visit = (from: readonly string[], { dependencies, ...info }: Dependencies): void => {
    const { peerDependencies, optionalPeers = [] } = info;
    const peers = Object.keys(peerDependencies ?? {});
    const needed = peers.filter((name) => !optionalPeers.includes(name));
    for (const name of [...Object.keys(dependencies ?? {}), ...needed]) {
      // Its own copy, or that of a package around it.
      const path = from
        .map((_, depth) => [...from.slice(0, from.length - depth), name].join("/"))
        .concat(name)
        .find((each) => each in lock.packages);
      const [id = "", , its = {}, integrity = ""] = lock.packages[path ?? ""] ?? [];
      if (path === undefined || found.has(path)) continue;
      // `@a/b/c` is c inside of @a/b.
      const segments = path.match(/@[^/]+\/[^/]+|[^/]+/g) ?? [];
      found.set(
        path,
        described(join(root, "node_modules", segments.join("/node_modules/")), id, integrity),
      );
      visit(segments, its);
    }
  };
  visit([], { dependencies: lock.workspaces[""].dependencies ?? {} });
  return [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function described(folder: string, id: string, integrity: string): InsidePackage {
  const [, name = "", own = ""] = /^(.+)@([^@]+)$/.exec(id) ?? [];
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    readonly license?: string;
    readonly author?: string | { readonly name?: string };
  };
  const { license = "NOASSERTION", author } = manifest;
  const file = readdirSync(folder).find((each) =>
    /^licen[cs]e(?:-mit)?(?:\.(?:md|txt))?$/i.test(each),
  );
  const holder = (typeof author === "string" ? author : author?.name) ?? `the authors of ${name}`;
  const text = file === undefined ? standardText(license, holder) : readText(folder, file);
  return { name, version: own, license, integrity, text };
}

/** The text of a license whose package carries none. */
function standardText(license: string, holder: string): string {
  if (license === "Apache-2.0") return readText(root, "node_modules/prom-client/LICENSE");
  if (license !== "MIT") throw new Error(`what ${holder} made carries no text of ${license}`);
  return readText(root, "LICENSE").replace(/^Copyright .*$/m, `Copyright (c) ${holder}`);
}

function readText(folder: string, file: string): string {
  return readFileSync(join(folder, file), "utf8")
    .replaceAll(/[\t\r ]+$/gm, "")
    .trim();
}

/** The notices: what is inside by name and license, and then the licenses in full. */
export function notices(): string {
  const packages = insidePackages();
  const texts = Map.groupBy(packages, ({ text }) => text);
  return [
    "rehome is under the MIT license. Its executable holds the work of others too.\n",
    section("rehome"),
    `${readText(root, "LICENSE")}\n`,
    section("Packages"),
    ...packages.map(({ name, version: own, license }) => `${name} ${own}: ${license}`),
    "",
    section(`Bun ${bunVersion}, and what it links`),
    `Bun is under the MIT license, Copyright (c) the authors of Bun, https://bun.sh.

${linkedParts}

JavaScriptCore and tinycc are under the GNU Lesser General Public License, whose text is at the end of this
file. To link rehome with a version of yours: build Bun with it, as https://github.com/oven-sh/bun describes
in LICENSE.md, and then rehome with that Bun, from its sources.
`,
    ...[...texts].map(([text, those]) => {
      return `${section(those.map(({ name }) => name).join(", "))}\n${text}\n`;
    }),
    section("GNU Lesser General Public License, version 2.1"),
    `${readText(root, "packaging/lgpl-2.1.txt")}\n`,
  ].join("\n");
}

function section(title: string): string {
  return `${rule}\n${title}\n${rule}`;
}

/** A CycloneDX bill of materials (version 1.6), the same bytes for the same lock file. */
export function billOfMaterials(): string {
  const licensed = (expression: string) => [{ expression }];
  const packages = insidePackages().map(({ name, version: own, license, integrity }) => {
    const content = Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex");
    const purl = `pkg:npm/${name.replace(/^@/, "%40")}@${own}`;
    const hashes = [{ alg: "SHA-512", content }];
    return { type: "library", name, version: own, purl, licenses: licensed(license), hashes };
  });
  const purl = `pkg:npm/bun@${bunVersion}`;
  const bun = { type: "platform", name: "bun", version: bunVersion, purl };
  const own = { type: "application", name: "rehome", version, licenses: licensed("MIT") };
  const document = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: own },
    components: [...packages, { ...bun, licenses: licensed("MIT") }],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

if (import.meta.main) {
  const [flag, file] = process.argv.slice(2);
  if (flag === "--sbom" && file !== undefined) writeFileSync(file, billOfMaterials());
  else process.stdout.write(notices());
}
