/**
 * `bun run test:long [--seed S]`: what takes too long to wait for. Random tests get a new seed, and
 * more of them run: histories, kills, damaged lists; then the packages, containers, other clients
 * and browsers, slow disks and Lighthouse. Prints the seed first, and last what failed.
 */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { argumentsOf } from "./arguments.ts";
import { longPackages, needPackages } from "./debian-packages.ts";

const { values } = argumentsOf({
  options: { seed: { type: "string", default: String(Date.now() % 2 ** 31) } },
});
const { seed } = values;
const say = (text: string) => void process.stdout.write(`${text}\n`);
const root = join(import.meta.dir, "..");

/** What each part runs, by its name. */
const parts: Readonly<Record<string, readonly string[]>> = {
  "known vulnerabilities": ["audit"],
  "tests with another seed": ["test", "--timeout", "600000"],
  histories: ["scripts/histories.ts", "--runs", "500", "--seed", seed],
  "killed imports": ["scripts/kill-imports.ts", "--runs", "200", "--seed", seed],
  "damaged lists": ["scripts/fuzz-import.ts", "--runs", "10000", "--seed", seed],
  kills: ["test-system/soak/soak.ts", "30", "--kills", "200", "--seed", seed],
  mutation: ["scripts/mutation.ts"],
  "packages, containers, browsers": ["test", "--timeout", "600000", "./test-system/long"],
  // Other people's programs: curl, Python, PHP and a generated client.
  "other clients": [
    "test",
    "--timeout",
    "600000",
    "./test-system/clients",
    "./test-system/debian/page-code.test.ts",
    "./test-system/tools/generated.test.ts",
  ],
};

say(`Seed ${seed}, ${availableParallelism()} processors`);
needPackages(longPackages);
const failed: string[] = [];
for (const [name, args] of Object.entries(parts)) {
  say(`\n# ${name}: bun ${args.join(" ")}`);
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: root,
    env: { ...process.env, TEST_SEED: seed, MODEL_RUNS: "400" },
    stdio: ["ignore", "inherit", "inherit"],
  });
  if ((await child.exited) !== 0) failed.push(name);
}
say(
  failed.length === 0 ? "\nAll parts passed." : `\nFailed, with seed ${seed}: ${failed.join("; ")}`,
);
process.exit(failed.length === 0 ? 0 : 1);
