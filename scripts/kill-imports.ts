/**
 * `bun scripts/kill-imports.ts [--runs N] [--seed S]`: kills imports, and undos of imports, at
 * random moments with SIGKILL, and looks each time whether all of it was done or nothing.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { cleanEnvironment, executable, rehome, temporaryFolder } from "../test/helpers/binary.ts";
import { onStoreUnderTest } from "../test/helpers/store-under-test.ts";
import { argumentsOf } from "./arguments.ts";
import { random } from "./random.ts";

const animals = 8_000;

/** A list in which every animal has another name and status than in the one before. */
function list(version: number): string {
  const status = version % 2 === 0 ? "available" : "sold";
  const from = version % 3 === 0 ? 0 : 100;
  const rows = Array.from({ length: animals }, (_, at) => {
    return `Animal ${at} v${version},Dog,${status},${at + from}`;
  });
  return `Name,Species,Status,Id\n${rows.join("\n")}\n`;
}

/** Kills so many pieces of work. Returns how many of them had been done by then. */
export async function killImports(runs: number, seed: number): Promise<{ readonly done: number }> {
  using folder = temporaryFolder();
  const next = random(seed);
  const file = join(folder.path, "list.csv");
  const data = ["--data", join(folder.path, "data")];
  const columns = "name=Name,categoryId=Species,status=Status,externalId=Id";
  const map = ["--map", columns, "--source", "s", "--complete", "--yes"];
  const importing = ["pets", "import", file, ...map, ...data];
  const state = async () => (await rehome(["pets", "export", ...data])).stdout;
  const states = ["[]\n"];
  writeFileSync(file, list(0));
  let tookMs = -performance.now();
  await rehome(importing);
  tookMs += performance.now();
  states.push(await state());
  let done = 0;
  for (let run = 1; run <= runs; run += 1) {
    const isUndo = states.length > 1 && run % 3 === 0;
    writeFileSync(file, list(run));
    await killed(isUndo ? ["undo", "--yes", ...data] : importing, next() * 4 * tookMs);
    const found = await state();
    if (found === states.at(-1)) continue;
    const isWhole = isUndo ? found === states.at(-2) : isList(found, run);
    if (!isWhole) throw new Error(`run ${run} of --seed ${seed} did a part of its work`);
    if (isUndo) states.pop();
    else states.push(found);
    done += 1;
  }
  return { done };
}

async function killed(args: readonly string[], afterMs: number): Promise<void> {
  const named = await onStoreUnderTest(args);
  const env = { ...cleanEnvironment, ...named.env };
  const child = Bun.spawn([await executable(), ...named.args], {
    env,
    stdio: ["ignore", "ignore", "ignore"],
  });
  await Promise.race([child.exited, Bun.sleep(afterMs)]);
  child.kill("SIGKILL");
  await child.exited;
}

function isList(text: string, version: number): boolean {
  const found = JSON.parse(text) as { readonly name: string }[];
  const isOwn = found.every(({ name }) => name.endsWith(` v${version}`));
  return isOwn && found.length === animals;
}

if (import.meta.main) {
  const { values } = argumentsOf({
    options: {
      runs: { type: "string", default: "500" },
      seed: { type: "string", default: String(Date.now() % 2 ** 31) },
    },
  });
  const { done } = await killImports(Number(values.runs), Number(values.seed));
  const text = `${values.runs} were killed with --seed ${values.seed}: ${done} had been done, and the rest had changed nothing.\n`;
  process.stdout.write(text);
}
