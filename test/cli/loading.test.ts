import { expect, test } from "bun:test";
import { join } from "node:path";
import { finished } from "../helpers/finished.ts";

const root = join(import.meta.dir, "../..");

/** The modules that a process has loaded once `rehome WORD` has run in it. */
async function loadedBy(word: string): Promise<readonly string[]> {
  const script = `
    import { run } from "${root}/src/cli/program.ts";
    import { testIo } from "${root}/test/helpers/io.ts";
    await run([${JSON.stringify(word)}], testIo());
    process.stdout.write(JSON.stringify(Object.keys(require.cache)));`;
  const child = Bun.spawn([process.execPath, "-e", script], {
    cwd: root,
    stdout: "pipe",
    stderr: "pipe",
  });
  const { exitCode, stdout, stderr } = await finished(child);
  expect([exitCode, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout) as string[];
}

test.each(["--version", "--help", "nonsense"])(
  "%s loads neither the server nor the web framework",
  async (word) => {
    const loaded = await loadedBy(word);
    expect(loaded).toContain(join(root, "src/cli/program.ts"));
    const wanted = /\/node_modules\/elysia\/|\/src\/http\/app\.ts$|\/src\/cli\/serving\.ts$/;
    expect(loaded.filter((path) => wanted.test(path))).toEqual([]);
  },
);

test("--version loads no command", async () => {
  const loaded = await loadedBy("--version");
  expect(loaded.filter((path) => path.endsWith("/src/cli/serve.ts"))).toEqual([]);
});
