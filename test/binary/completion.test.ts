/** `rehome completion` on the compiled executable: what the shells ask it. */
import { expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeKey, rehome, temporaryFolder } from "../helpers/binary.ts";

const offered = (env: Record<string, string>, ...words: string[]) =>
  rehome(["__complete", "--", ...words], { env });

test("words of the program are offered, and no store is read", async () => {
  using folder = temporaryFolder();
  const env = { REHOME_DATA: folder.path };
  await makeKey(folder.path, "--plan", "free", "--name", "shelter website");
  for (const words of [
    ["keys", "show", ""],
    ["usage", "shel"],
    ["pets", "show", "1"],
  ])
    expect(await offered(env, ...words)).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  const { stdout } = await offered(env, "keys", "create", "--plan", "f");
  expect(stdout).toBe("free\t\n");
});

test("somebody who types is not disturbed by what is wrong, and nothing is made", async () => {
  using folder = temporaryFolder();
  const missing = join(folder.path, "none");
  const said = await offered({ REHOME_DATA: missing, REHOME_PROT: "1" }, "keys", "l");
  expect(said).toMatchObject({ exitCode: 0, stderr: "" });
  expect(said.stdout).toStartWith("list\t");
  expect(readdirSync(folder.path)).toEqual([]);
  writeFileSync(join(folder.path, "rehome.db"), "nonsense");
  expect(await offered({ REHOME_DATA: folder.path }, "keys", "sh")).toMatchObject({ stderr: "" });
});

test.each(["bash", "zsh", "fish"])("there is a script for %s", async (shell) => {
  const result = await rehome(["completion", shell]);
  expect(result).toMatchObject({ exitCode: 0, stderr: "" });
  expect(result.stdout).toContain("__complete --");
});

test("nobody sees the command behind them", async () => {
  expect((await rehome(["--help"])).stdout).not.toContain("__complete");
});
