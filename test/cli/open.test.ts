import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { addressIn } from "../../src/cli/open.ts";
import { refuseStray } from "../../src/features/with-services.ts";
import { loadConfig } from "../../src/config.ts";
import { temporaryFolder } from "../helpers/binary.ts";

test("a file with more than one line holds no address", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "store");
  const address = "postgres://rehome@db/rehome";
  writeFileSync(file, `${address}\n`);
  expect(await addressIn(file, "store-file")).toBe(address);
  writeFileSync(file, `${address}\n# a note\n`);
  expect(addressIn(file, "store-file")).rejects.toThrow(`The file ${file} has more than one line.`);
});

describe("where there is no catalogue", () => {
  const refusing = (flags: Record<string, string>, beginning = {}) => {
    const { config } = loadConfig(flags, {}, []);
    return expect(() => refuseStray(config, beginning));
  };

  test("a command that only looks or changes begins none, in a misspelt folder", () => {
    using folder = temporaryFolder();
    const data = join(folder.path, "misspelt");
    refusing({ data }).toThrow(`There is no catalogue in ${data}.`);
    refusing({ data }, { begins: true }).not.toThrow();
  });

  test("a command goes on with a database, and where there is one", () => {
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "rehome.db"), "");
    refusing({ data: folder.path }).not.toThrow();
    refusing({ store: "postgres://db/x" }).not.toThrow();
  });
});
