import { expect, test } from "bun:test";
import { join } from "node:path";
import { cliDocs } from "../../scripts/cli-docs.ts";

test("docs/cli.md is what the commands say: `bun run docs:cli` writes it anew", async () => {
  const written = await Bun.file(join(import.meta.dir, "../../docs/cli.md")).text();
  expect(written === (await cliDocs()) ? "the same" : "run `bun run docs:cli`").toBe("the same");
});

test("every table of what --json prints has fields, and every value a meaning", async () => {
  const page = await cliDocs();
  expect(page).not.toMatch(/\|---\|---\|---\|\n(?!\|)/);
  expect(page.match(/^\| `[^`]+` \| (?!object|list of object)[^|]*\| {2}\|$/gm)).toBeNull();
});
