/** What README, docs/clients.md and docs/website.md have people type, on a service. */
import { expect, test } from "bun:test";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cleanEnvironment, serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { finished } from "../../test/helpers/finished.ts";
import { commandsOf, comparable } from "../../test/helpers/transcript.ts";

const root = join(import.meta.dir, "../..");

test("README's session prints what it says, and what two guides have people type works", async () => {
  using folder = temporaryFolder();
  const data = join(folder.path, "data");
  await using server = await serve(data, ["--first-key"]);
  const API_KEY = /rehome_live_\w+/.exec(server.stdout())?.[0] ?? "";
  writeFileSync(join(folder.path, ".curlrc"), "silent\n");
  for (const name of ["dist", "examples"]) symlinkSync(join(root, name), join(folder.path, name));
  const own = { HOME: folder.path, REHOME_DATA: data, API_URL: `${server.origin}/v1`, API_KEY };
  const run = async (line: string) => {
    const env = { ...cleanEnvironment, ...own };
    const { exitCode, stdout } = await finished(["bash", "-c", `exec 2>&1; ${line}`], {
      cwd: folder.path,
      env,
    });
    expect([line, exitCode, stdout]).toEqual([line, 0, stdout]);
    return stdout;
  };
  const page = (path: string) => readFileSync(join(root, path), "utf8");
  // Another minute may begin meanwhile.
  const header = /^(X-Request-Id|X-RateLimit-Remaining|X-RateLimit-Reset|Date): .*$/gm;
  const steady = (text: string) => comparable(text.replaceAll(header, "$1: ..."));
  for (const [at, { command, output }] of commandsOf(page("README.md")).entries()) {
    const printed = (await run(command))
      .replaceAll("\r", "")
      .replaceAll(server.origin, "http://127.0.0.1:8080")
      .replaceAll(data, "/home/pi/.local/share/rehome");
    expect(steady(printed.trimEnd())).toBe(steady(output));
    // "Add a few more".
    for (const name of at === 0 ? ["Luna", "Max", "Zoe"] : []) {
      await run(command.replace("Rex", name).replace('"categoryId":1', '"categoryId":2'));
    }
  }
  const blocks = [...page("docs/clients.md").matchAll(/^```sh\n([^]*?)^```/gm)];
  // The client that is generated has a test of its own.
  const lines = blocks.map(([, text = ""]) => text).filter((text) => !text.includes("npx "));
  expect(lines).toHaveLength(2);
  for (const text of lines) {
    await run(text.replace(/^export API_URL=\S+ API_KEY=\S+$/m, ""));
  }
  for (const { command } of commandsOf(page("docs/website.md"))) {
    await run(command.replace("sudo -u rehome ", "dist/"));
  }
});
