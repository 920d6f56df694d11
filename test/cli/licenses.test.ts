/**
 * Whose code is inside: the notices and the bill of materials, held against the lock file and
 * against what is built.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { entryPoints } from "../../scripts/build.ts";
import { insidePackages } from "../../scripts/inventory.ts";
import { billOfMaterials, notices } from "../../scripts/licenses.ts";
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

test("the bill of materials names each with its hash, and is the same each time", () => {
  const text = billOfMaterials(1_763_683_200);
  expect(billOfMaterials(1_763_683_200)).toBe(text);
  const bill = JSON.parse(text) as {
    bomFormat: string;
    metadata: { timestamp: string };
    components: { name: string; purl: string; hashes?: { content: string }[] }[];
  };
  expect(bill).toMatchObject({ bomFormat: "CycloneDX", specVersion: "1.6" });
  expect(bill.metadata.timestamp).toBe("2025-11-21T00:00:00Z");
  const purls = bill.components.map(({ purl }) => purl);
  const packages = insidePackages();
  expect(new Set(purls).size).toBe(packages.length + 1);
  for (const { name, version, integrity } of packages) {
    const found = bill.components.find((each) =>
      each.purl.endsWith(`/${name.split("/").at(-1)}@${version}`),
    );
    const [hash] = found?.hashes ?? [];
    expect(`sha512-${Buffer.from(hash?.content ?? "", "hex").toString("base64")}`).toBe(integrity);
  }
});
