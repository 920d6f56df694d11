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
});
