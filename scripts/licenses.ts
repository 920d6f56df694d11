/**
 * The notices that `rehome licenses` prints and packages carry as THIRD-PARTY-NOTICES, from the
 * lock file and the packages that it names. The build puts them into the executable.
 * `bun run licenses` prints them; with `--sbom FILE` it writes the bill of materials.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { version as bunVersion } from "../node_modules/bun/package.json";
import { version } from "../package.json";
import { linkedParts, polyfills } from "./bun-parts.ts";
import { insidePackages, type InsidePackage } from "./inventory.ts";

const root = join(import.meta.dir, "..");
const rule = "-".repeat(80);

/** The notices: what is inside by name and license, and then the licenses in full. */
export function notices(packages: readonly InsidePackage[] = insidePackages()): string {
  const own = readFileSync(join(root, "LICENSE"), "utf8").trim();
  const lgpl = readFileSync(join(root, "packaging/lgpl-2.1.txt"), "utf8").trim();
  const nameCells = Math.max(...linkedParts.map(({ name }) => name.length));
  const licenseCells = Math.max(...linkedParts.map(({ license }) => license.length));
  return `${[
    "rehome is under the MIT license. Its executable holds the work of others too.",
    "",
    section("rehome"),
    own,
    "",
    section("Packages"),
    ...packages.map(({ name, version: each, license }) => `${name} ${each}: ${license}`),
    "",
    section(`Bun ${bunVersion}, and what it links`),
    "Bun is under the MIT license, Copyright (c) the authors of Bun, https://bun.sh.",
    "",
    ...linkedParts.map(
      ({ name, license, url }) =>
        `${name.padEnd(nameCells)}  ${license.padEnd(licenseCells)}  ${url}`,
    ),
    "",
    "JavaScriptCore and tinycc are under the GNU Lesser General Public License, whose text is at the end of this",
    "file. To link rehome with a version of yours: build Bun with it, as https://github.com/oven-sh/bun describes",
    "in LICENSE.md, and then rehome with that Bun, from its sources.",
    "",
    "Bun carries these packages for Node's modules, each under the MIT license:",
    polyfills,
    "",
    ...byText(packages).flatMap(([text, names]) => [section(names.join(", ")), text, ""]),
    section("GNU Lesser General Public License, version 2.1"),
    lgpl,
  ].join("\n")}\n`;
}

function section(title: string): string {
  return `${rule}\n${title}\n${rule}`;
}

/** Each license's text once, with the packages that are under it. */
function byText(packages: readonly InsidePackage[]): [text: string, names: string[]][] {
  const texts = Map.groupBy(packages, ({ text }) => text);
  return [...texts].map(([text, those]) => [text, those.map(({ name }) => name)]);
}

/** A CycloneDX bill of materials (version 1.6), the same bytes for the same lock file and date. */
export function billOfMaterials(
  dateSeconds: number,
  packages: readonly InsidePackage[] = insidePackages(),
): string {
  const licensed = (expression: string) => [{ expression }];
  const components = [
    ...packages.map(({ name, version: each, license, integrity, homepage }) => ({
      type: "library",
      "bom-ref": `pkg:npm/${purlName(name)}@${each}`,
      name,
      version: each,
      purl: `pkg:npm/${purlName(name)}@${each}`,
      licenses: licensed(license),
      hashes: [{ alg: "SHA-512", content: hexOf(integrity) }],
      externalReferences: [{ type: "website", url: homepage }],
    })),
    {
      type: "platform",
      "bom-ref": `pkg:npm/bun@${bunVersion}`,
      name: "bun",
      version: bunVersion,
      purl: `pkg:npm/bun@${bunVersion}`,
      licenses: licensed("MIT"),
      components: linkedParts.map(({ name, license, url }) => ({
        type: "library",
        "bom-ref": `bun:${name}`,
        name,
        licenses: licensed(license),
        externalReferences: [{ type: "vcs", url }],
      })),
    },
  ];
  const document = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      timestamp: new Date(dateSeconds * 1_000).toISOString().replace(".000Z", "Z"),
      component: {
        type: "application",
        "bom-ref": `rehome@${version}`,
        name: "rehome",
        version,
        licenses: licensed("MIT"),
      },
    },
    components,
    dependencies: [
      { ref: `rehome@${version}`, dependsOn: components.map((each) => each["bom-ref"]) },
    ],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** A package's name in a purl: the scope's @ is escaped. */
function purlName(name: string): string {
  return name.replace(/^@/, "%40");
}

function hexOf(integrity: string): string {
  return Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex");
}

if (import.meta.main) {
  const [flag, file] = process.argv.slice(2);
  // The bill is dated 1970, as no commit is known.
  if (flag === "--sbom" && file !== undefined) writeFileSync(file, billOfMaterials(0));
  else process.stdout.write(notices());
}
