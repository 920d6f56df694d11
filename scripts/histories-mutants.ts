/**
 * `bun run histories:mutants [NAME ...]`: puts bugs into a copy of the source, one at a time, and
 * fails unless the histories find each of them within ten minutes. A part of a name is enough.
 */
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { misused } from "./arguments.ts";
import { mutants, mutated, type Mutant } from "./histories/mutants.ts";

const root = join(import.meta.dir, "..");
const withinMs = 600_000;
/** Seeds of one run; a run begins with a store of its own. */
const runsAtOnce = 25;
/** Lines of a violation that are printed. */
const linesMax = 16;
const built = ["src", "drizzle", "scripts", "packaging", "package.json", "tsconfig.json"];

const say = (text: string) => void process.stdout.write(`${text}\n`);

async function run(folder: string, args: readonly string[], timeout?: number) {
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: folder,
    stdout: "pipe",
    stderr: "inherit",
    ...(timeout !== undefined && { timeout }),
  });
  const text = await child.stdout.text();
  return { exitCode: await child.exited, text };
}

/** Builds the executable with the bug in it. */
async function buildWith(mutant: Mutant, folder: string): Promise<string> {
  for (const each of [...built, "text-imports.d.ts"]) {
    cpSync(join(root, each), join(folder, each), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, mutant.file), mutated(root, mutant));
  const { exitCode } = await run(folder, ["scripts/build.ts"]);
  if (exitCode !== 0) throw new Error(`"${mutant.name}" does not build`);
  return join(folder, "dist/rehome");
}

/** What the histories print of the bug; undefined if they do not find it in time. */
async function violationOf({ store }: Mutant, executable: string): Promise<string | undefined> {
  const endMs = performance.now() + withinMs;
  for (let seed = 1; ; seed += runsAtOnce) {
    const leftMs = Math.ceil(endMs - performance.now());
    if (leftMs <= 0) return undefined;
    const numbers = ["--runs", String(runsAtOnce), "--seed", String(seed)];
    const args = ["--store", store, "--executable", executable, "--first"];
    const { exitCode, text } = await run(
      root,
      ["scripts/histories.ts", ...numbers, ...args],
      leftMs,
    );
    if (exitCode === 1 && text.includes(", seed ")) return text;
    if (exitCode !== 0 && leftMs > 1_000) say(`  the run from seed ${seed} ended: ${text}`);
  }
}

async function isFound(mutant: Mutant): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), "rehome-mutant-"));
  try {
    const executable = await buildWith(mutant, folder);
    const beganMs = performance.now();
    const violation = await violationOf(mutant, executable);
    const seconds = Math.round((performance.now() - beganMs) / 1_000);
    const end = violation === undefined ? "NOT FOUND" : `found in ${seconds} s`;
    say(`${mutant.name} (${mutant.store}): ${end}`);
    if (violation !== undefined) say(violation.split("\n").slice(0, linesMax).join("\n"));
    return violation !== undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const parts = process.argv.slice(2);
const chosen = mutants.filter(
  ({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)),
);
if (chosen.length === 0) misused(`No mutant is named like ${parts.join(" or ")}.`);
let found = 0;
for (const mutant of chosen) if (await isFound(mutant)) found += 1;
say(`${found} of ${chosen.length} mutants were found`);
process.exit(found === chosen.length ? 0 : 1);
