import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { releaseChangelog, withVersion } from "../../scripts/release.ts";
import { version } from "../../src/version.ts";

describe("the changelog", () => {
  const text =
    "# Changelog\n\n## Unreleased\n\n### Added\n\n- A thing.\n\n## 1.0.0 - 2026-01-01\n\n- Old.\n";
  const ahead = "## Unreleased\n\n## 1.1.0\n\n- A thing.\n\n## 1.0.0 - 2026-01-01\n\n- Old.\n";
  test("joins what came later to a section that was written in advance", () => {
    const both = ahead.replace("Unreleased\n", "Unreleased\n\n### Added\n\n- Late.\n");
    expect(releaseChangelog(both, "1.1.0", "2026-11-21")).toBe(
      "## Unreleased\n\n## 1.1.0 - 2026-11-21\n\n- A thing.\n\n### Added\n\n- Late.\n\n" +
        "## 1.0.0 - 2026-01-01\n\n- Old.\n",
    );
  });
  test("of today can be released, with every line of it", async () => {
    const now = await Bun.file(join(import.meta.dir, "../../CHANGELOG.md")).text();
    const released = releaseChangelog(now, version, "2026-11-21");
    expect(released).toContain(`## Unreleased\n\n## ${version} - 2026-11-21\n`);
    const lines = (of: string) => of.split("\n").filter((line) => !/^(?:## .*)?$/.test(line));
    expect(lines(released).toSorted()).toEqual(lines(now).toSorted());
  });
  test.each([
    ["# Changelog\n", "has no"],
    ["## Unreleased\n\n## 1.0.0\n\n- Old.\n", "says nothing"],
    [text.replace("1.0.0", "1.1.0"), "with a date"],
  ])("%j is refused", (wrong, why) => {
    expect(() => releaseChangelog(wrong, "1.1.0", "2026-11-21")).toThrow(why);
  });
});

test("only the version of package.json changes", async () => {
  const text = await Bun.file(join(import.meta.dir, "../../package.json")).text();
  const changed = withVersion(text, "9.8.7");
  expect(JSON.parse(changed)).toEqual({ ...JSON.parse(text), version: "9.8.7" });
  expect(withVersion(changed, version)).toBe(text);
});
