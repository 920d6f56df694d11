import { expect, test } from "bun:test";
import { shellWord } from "../../src/domain/errors.ts";

test.each(["", "plain", "/var/lib/a shelter", "kim's", "$HOME", "a;b", "*", "~", "ü\n"])(
  "a shell reads %j as one word",
  (text) => {
    const { stdout } = Bun.spawnSync(["sh", "-c", `printf "[%s]" ${shellWord(text)}`]);
    expect(stdout.toString()).toBe(`[${text}]`);
  },
);

test("a word that needs no quotes has none", () => {
  expect(shellWord("/var/lib/rehome-1,a=b:c@d%+")).toBe("/var/lib/rehome-1,a=b:c@d%+");
});
