import { expect, test } from "bun:test";
import { join } from "node:path";
import { finished } from "../helpers/finished.ts";

test("the house counts its lines, and traces the files that a request executes", async () => {
  const script = join(import.meta.dir, "../../scripts/house.ts");
  const child = Bun.spawn([process.execPath, script, "--list"], { stdout: "pipe", stderr: "pipe" });
  const { exitCode, stdout } = await finished(child);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^core +\d{4,} lines in \d+ files$/m);
  const [, list = "", create = ""] = stdout.split(
    /^(?:GET|POST) .* executes \d+ \(first\), \d+ \(second\), \d+ \(fourth\) files$/m,
  );
  expect(list).toContain("  src/domain/windows.ts\n");
  expect(list).not.toContain("src/storage/sqlite/writer");
  // Traced in the other thread too.
  expect(create).toContain("  src/storage/sqlite/writer.worker.ts\n");
}, 120_000);
