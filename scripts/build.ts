/**
 * Builds dist/rehome, the whole program in one file, for this machine. Each flag is there for a
 * reason: docs/decisions/0001-build-flags.md.
 */
import { mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const root = join(import.meta.dir, "..");
/** The writer thread is an entry point of its own: nothing imports it. */
export const entryPoints = ["src/main.ts", "src/storage/sqlite/writer.worker.ts"];

export const buildFlags = [
  "--compile",
  "--bytecode",
  "--format=esm",
  "--splitting",
  "--minify-syntax",
  "--minify-whitespace",
  "--env=disable",
  "--no-compile-autoload-dotenv",
  "--no-compile-autoload-bunfig",
];

/**
 * Builds the executable as `outfile`, seen from the root of the repository, for `target` or for
 * this machine. The bytes depend on the sources, Bun, the target and the file's own name, which is
 * in it. Throws when the build fails.
 */
export async function build(outfile: string, target?: string): Promise<void> {
  mkdirSync(dirname(resolve(root, outfile)), { recursive: true });
  const flags = target === undefined ? buildFlags : [...buildFlags, `--target=${target}`];
  const child = Bun.spawn(
    [process.execPath, "build", ...flags, ...entryPoints, "--outfile", outfile],
    { cwd: root, stdout: "ignore", stderr: "pipe" },
  );
  const [exitCode, talk] = await Promise.all([child.exited, child.stderr.text()]);
  if (exitCode !== 0) throw new Error(`the build failed:\n${talk}`);
}

if (import.meta.main) {
  await build("dist/rehome");
  process.stdout.write("dist/rehome\n");
}
