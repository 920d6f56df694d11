/**
 * Builds dist/rehome, the whole program in one file, for this machine. Each flag is there for a
 * reason: docs/decisions/0001-build-flags.md.
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { version } from "../package.json" with { type: "json" };
import { basename, dirname, join, resolve } from "node:path";

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
 * in it. It takes a former one's place when it is whole. Throws when the build fails.
 */
export async function build(outfile: string, target?: string): Promise<void> {
  const file = resolve(root, outfile);
  mkdirSync(dirname(file), { recursive: true });
  const folder = mkdtempSync(join(dirname(file), ".build-"));
  const made = join(folder, basename(file));
  const flags = target === undefined ? buildFlags : [...buildFlags, `--target=${target}`];
  const define = `--define=BUILD_SUFFIX=${JSON.stringify(buildSuffix())}`;
  const child = Bun.spawn(
    [process.execPath, "build", ...flags, define, ...entryPoints, "--outfile", made],
    { cwd: root, stdout: "ignore", stderr: "pipe" },
  );
  const [exitCode, talk] = await Promise.all([child.exited, child.stderr.text()]);
  if (exitCode === 0) renameSync(made, file);
  rmSync(folder, { recursive: true });
  if (exitCode !== 0)
    throw new Error(`the build failed (${child.signalCode ?? exitCode}):\n${talk}`);
}

/** What follows the version: nothing at its tag, the commit elsewhere, -dev for a changed tree. */
function buildSuffix(): string {
  // In the image that the Dockerfile builds in there is no git: who builds it names a version.
  if (Bun.which("git") === null) return process.env["VERSION"] === version ? "" : "-dev";
  const git = (...args: string[]) =>
    Bun.spawnSync(["git", ...args], { cwd: root, stderr: "ignore" });
  const changed = git("status", "--porcelain", "--untracked-files=no");
  if (changed.exitCode !== 0 || changed.stdout.length > 0) return "-dev";
  const tag = git("describe", "--tags", "--exact-match", "--match", `v${version}`);
  if (tag.exitCode === 0) return "";
  return `+${git("rev-parse", "--short=10", "HEAD").stdout.toString().trim()}`;
}

if (import.meta.main) {
  await build("dist/rehome");
  process.stdout.write("dist/rehome\n");
}
