import { expect, test } from "bun:test";
import { join } from "node:path";
import { cliDocs } from "../../scripts/cli-docs.ts";
import { jsonSchemaOf } from "../../src/features/json.ts";
import { createProgram } from "../../src/cli/program.ts";
import { testIo } from "../../test/helpers/io.ts";

test("docs/cli.md is what the commands say: `bun run docs:cli` writes it anew", async () => {
  const written = await Bun.file(join(import.meta.dir, "../../docs/cli.md")).text();
  expect(written === (await cliDocs()) ? "the same" : "run `bun run docs:cli`").toBe("the same");
});

test("every table of what --json prints has fields, and every value a meaning", async () => {
  const page = await cliDocs();
  expect(page).not.toMatch(/\|---\|---\|---\|\n(?!\|)/);
  expect(page.match(/^\| `[^`]+` \| (?!object|list of object)[^|]*\| {2}\|$/gm)).toBeNull();
});

test("every command that takes --json says what it prints", async () => {
  const commands = [await createProgram(testIo())];
  for (const command of commands) {
    commands.push(...command.commands);
    const takesJson = command.options.some(({ long }) => long === "--json");
    expect([command.name(), jsonSchemaOf(command) !== undefined]).toEqual([
      command.name(),
      takesJson,
    ]);
  }
  expect(commands.length).toBeGreaterThan(25);
});
