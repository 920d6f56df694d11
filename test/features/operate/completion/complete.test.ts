import { expect, test } from "bun:test";
import { complete } from "../../../../src/features/operate/completion/completion.ts";
import { createProgram } from "../../../../src/cli/program.ts";
import { testIo } from "../../../helpers/io.ts";

const program = await createProgram(testIo());

/** What completes the last of these words, which a blank parts. */
function completed(words: string): string {
  const found = complete(program, words.split(" "));
  return found === "files" ? found : found.map(({ value }) => value).join(" ");
}

test("commands come with what they do, and none that is hidden", () => {
  const found = complete(program, [""]);
  expect(found).toContainEqual({ value: "serve", about: "run the service" });
  expect(JSON.stringify(found)).not.toContain("__complete");
});

test.each([
  ["k", "keys"],
  ["keys r", "rotate revoke"],
  ["help pe", "pets people"],
  ["help keys sh", "show"],
  ["keys create --pe", "--per-minute --per-day"],
  ["keys revoke x --y", "--yes"],
  ["serve --he", "--help"],
  ["keys create --plan ", "free pro business enterprise"],
  ["keys create --plan b", "business"],
  ["keys create --plan=b", "--plan=business"],
  // bash breaks words at =.
  ["keys create --plan = b", "business"],
  ["keys create --plan =", "free pro business enterprise"],
  ["pets set-status 17 ", "available pending sold none"],
  ["serve --bans o", "on off"],
  ["completion f", "fish"],
  ["serve --processes ", "auto"],
  // Of the store, it offers nothing.
  ["pets list --category ", ""],
  ["keys create --name w", ""],
  ["keys show ", ""],
  ["backup ", "files"],
  ["serve --data=/v", "files"],
  ["store copy --from /v", "files"],
  ["pets import a", "files"],
])("%j is completed by %j", (words, values) => expect(completed(words)).toBe(values));
