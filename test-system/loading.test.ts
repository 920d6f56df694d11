/** What a command that serves nothing must not load: it would take ten times as long to start. */
import { expect, test } from "bun:test";
import { join } from "node:path";

const root = join(import.meta.dir, "..");

/** The modules that a process has loaded once `rehome WORD` has run in it. */
async function loadedBy(word: string): Promise<readonly string[]> {
  const script = `
    import { run } from "${root}/src/cli/program.ts";
    import { testIo } from "${root}/test/helpers/io.ts";
    await run([${JSON.stringify(word)}], testIo());
    process.stdout.write(JSON.stringify(Object.keys(require.cache)));`;
  return (await Bun.$`${process.execPath} -e ${script}`.cwd(root).quiet().json()) as string[];
}

test.each(["--version", "--help", "nonsense"])(
  "%s loads neither the server nor the web framework, and --version no command",
  async (word) => {
    const loaded = await loadedBy(word);
    expect(loaded).toContain(join(root, "src/cli/program.ts"));
    const server = /\/node_modules\/elysia\/|\/src\/http\/app\.ts$|\/src\/cli\/serving\.ts$/;
    const commands = word === "--version" ? /\/src\/cli\/serve\.ts$/ : server;
    expect(loaded.filter((path) => server.test(path) || commands.test(path))).toEqual([]);
  },
);
