/** A release as a maintainer makes it, in a clone. Its tests are left out: this is one of them. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../helpers/binary.ts";

const root = join(import.meta.dir, "../..");
const slowMs = 900_000;

test(
  "a release is a commit, a tag, and files of that version with their checksums",
  async () => {
    using folder = temporaryFolder();
    const clone = join(folder.path, "clone");
    const run = async (cwd: string, ...command: string[]): Promise<string> => {
      const child = Bun.spawn(command, { cwd, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
      const [text, said] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      expect([command.join(" "), await child.exited, said]).toEqual([
        command.join(" "),
        0,
        expect.any(String),
      ]);
      return text;
    };
    await run(root, "git", "clone", "--quiet", root, clone);
    await run(clone, "git", "checkout", "--quiet", "-B", "main");
    await run(clone, process.execPath, "install", "--frozen-lockfile");
    await run(clone, "sed", "-i", 's/^\\( *"test":\\).*/\\1 "true",/', "package.json");
    const changelog = readFileSync(join(clone, "CHANGELOG.md"), "utf8");
    await Bun.write(
      join(clone, "CHANGELOG.md"),
      changelog.replace("## Unreleased\n", "## Unreleased\n\n- A thing.\n"),
    );
    await run(clone, "git", "config", "user.email", "a@example.org");
    await run(clone, "git", "config", "user.name", "a");
    // The account that runs the tests may sign, or have hooks.
    for (const what of ["commit.gpgSign", "tag.gpgSign"]) {
      await run(clone, "git", "config", what, "false");
    }
    await run(clone, "git", "config", "core.hooksPath", "/dev/null");
    await run(clone, "git", "commit", "--quiet", "--all", "--message", "leave the tests out");

    await run(clone, process.execPath, "run", "release", "97.8.9", "--preset", "0");

    expect(await run(clone, "git", "status", "--porcelain")).toBe("");
    expect(await run(clone, "git", "log", "-1", "--format=%s %D")).toMatch(
      /^chore\(release\): 97\.8\.9 .*\btag: v97\.8\.9\b/,
    );
    expect(readFileSync(join(clone, "CHANGELOG.md"), "utf8")).toMatch(
      /^## Unreleased\n\n## 97\.8\.9 - \d{4}-\d\d-\d\d\n\n- A thing\.\n/m,
    );
    const files = readdirSync(join(clone, "dist")).filter((name) => name.startsWith("rehome_"));
    expect(files.toSorted()).toEqual(["rehome_97.8.9_amd64.deb", "rehome_97.8.9_arm64.deb"]);
    const tarball = await run(clone, "tar", "tf", "dist/rehome-linux-x64-musl.tar.xz");
    expect(tarball.split("\n")[0]).toBe("rehome-97.8.9/");
    expect(await run(clone, "dist/rehome-linux-x64", "--version")).toBe("97.8.9\n");
    const checked = await run(join(clone, "dist"), "sha256sum", "--check", "SHA256SUMS");
    expect(checked.match(/: OK$/gm)).toHaveLength(11);
  },
  slowMs,
);
