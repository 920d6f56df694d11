import { describe, expect, test } from "bun:test";
import { run } from "../../src/cli/program.ts";
import { testIo } from "../helpers/io.ts";

describe("a misspelt command", () => {
  const said = async (...args: string[]) => {
    const io = testIo();
    expect(await run(args, io)).toBe(2);
    return io.said();
  };

  test("is led to a near one", async () => {
    expect(await said("keys", "lst")).toContain("(Did you mean list?)");
    expect(await said("keys", "udpate")).toContain("(Did you mean update?)");
  });

  test.each(["keys revok", "keys rotat", "keys bann", "pets remov", "restor"])(
    "is never led to one that ends something: %s",
    async (line) => {
      expect(await said(...line.split(" "))).not.toMatch(
        /mean.*(?:revoke|rotate|\bban|remove|restore)/,
      );
    },
  );
});
