/**
 * Whose code is inside: the notices and the bill of materials, held against the lock file and
 * against what is built.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { entryPoints } from "../../scripts/build.ts";
import { billOfMaterials, insidePackages, notices } from "../../scripts/licenses.ts";
import { run } from "../../src/cli/program.ts";
import { testIo } from "../helpers/io.ts";

const root = join(import.meta.dir, "../..");
const buildMs = 60_000;

test("the notices are in the program", async () => {
  const io = testIo();
  expect(await run(["licenses"], io)).toBe(0);
  expect(io.printed()).toBe(notices());
});

test(
  "every package whose files are built into the executable is among them",
  async () => {
    const { metafile } = await Bun.build({
      entrypoints: entryPoints.map((each) => join(root, each)),
      root,
      target: "bun",
      splitting: true,
      metafile: true,
      throw: true,
    });
    const inputs = Object.keys(metafile?.inputs ?? {});
    const names = inputs.flatMap((path) => {
      const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
      return name === undefined ? [] : [name];
    });
    const inside = new Set(insidePackages().map(({ name }) => name));
    expect(new Set(names).size).toBeGreaterThan(5);
    expect([...new Set(names)].filter((name) => !inside.has(name))).toEqual([]);
  },
  buildMs,
);

test("the bill of materials names each with its hash", () => {
  const bill = JSON.parse(billOfMaterials()) as {
    components: { purl: string; hashes?: { content: string }[] }[];
  };
  const hashes = bill.components.map(({ purl, hashes: [hash] = [] }) => {
    return [purl, Buffer.from(hash?.content ?? "", "hex").toString("base64")];
  });
  const packages = insidePackages().map(({ name, version, integrity }) => {
    return [`pkg:npm/${name.replace("@", "%40")}@${version}`, integrity.replace("sha512-", "")];
  });
  expect(hashes.slice(0, -1)).toEqual(packages);
  expect(packages.length).toBeGreaterThan(20);
});
