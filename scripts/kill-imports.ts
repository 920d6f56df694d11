/**
 * `bun scripts/kill-imports.ts [--runs N] [--seed S]`: kills N imports and N undos of imports at
 * random moments with SIGKILL, and looks each time whether all of it was done or nothing. With
 * `TEST_STORE=postgres` on PostgreSQL.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { cleanEnvironment, executable, rehome, temporaryFolder } from "../test/helpers/binary.ts";
import { dropDatabases, onStoreUnderTest } from "../test/helpers/store-under-test.ts";
import { argumentsOf } from "./arguments.ts";
import { random } from "./random.ts";

const animals = 2_000;

/** What became of imports or of undos. */
export interface Kills {
  /** They had ended before they were killed. */
  ended: number;
  /** They were killed, and nothing was changed. */
  undone: number;
  /** They were killed, and everything was done. */
  done: number;
}

/** A list in which every animal has another name and status than in the one before. */
function list(version: number): string {
  const status = version % 2 === 0 ? "available" : "sold";
  const from = version % 3 === 0 ? 0 : 100;
  const rows = Array.from({ length: animals }, (_, at) => {
    return `Animal ${at} v${version},Dog,${status},${at + from}`;
  });
  return `Name,Species,Status,Id\n${rows.join("\n")}\n`;
}

const columns = "name=Name,categoryId=Species,status=Status,externalId=Id";
const options = `--map ${columns} --source s --complete --yes`;

/** Kills so many imports, and an undo after each. Throws where one did a part of its work. */
export async function killImports(
  runs: number,
  seed: number,
): Promise<{ readonly imports: Kills; readonly undos: Kills }> {
  using folder = temporaryFolder();
  const next = random(seed);
  const file = join(folder.path, "list.csv");
  const data = ["--data", join(folder.path, "data")];
  const commands = {
    imports: ["pets", "import", file, ...options.split(" "), ...data],
    undos: ["undo", "--yes", ...data],
  };
  const state = async () => (await rehome(["pets", "export", ...data])).stdout;
  // The state behind each import that stands, so that an undo is known by the one before.
  const states = ["[]\n"];
  const kills = { imports: none(), undos: none() };
  const tookMs = { imports: 0, undos: 0 };
  for (let run = 0; run <= runs; run += 1) {
    for (const kind of ["imports", "undos"] as const) {
      if (kind === "undos" && states.length === 1) continue;
      if (kind === "imports") writeFileSync(file, list(run));
      // The first of each ends in peace, and tells how long one takes.
      const isFirst = tookMs[kind] === 0;
      const limitMs = isFirst ? firstMs : next() * 1.5 * tookMs[kind];
      const beganMs = performance.now();
      const isKilled = await killed(commands[kind], limitMs);
      // The machine may have become slower: what is killed in vain gets more time.
      tookMs[kind] = isKilled ? tookMs[kind] * 1.2 : performance.now() - beganMs;
      const found = await state();
      const isDone = found !== states.at(-1);
      const isWhole = kind === "undos" ? found === states.at(-2) : isList(found, run);
      if ((isDone && !isWhole) || (!isDone && !isKilled)) {
        throw new Error(`run ${run} of --seed ${seed}, ${kind}, did a part of its work`);
      }
      if (isDone && kind === "undos") states.pop();
      if (isDone && kind === "imports") states.push(found);
      if (!isFirst) kills[kind][outcomeOf(isKilled, isDone)] += 1;
    }
  }
  return kills;
}

const firstMs = 60_000;
const none = (): Kills => ({ ended: 0, undone: 0, done: 0 });

function outcomeOf(isKilled: boolean, isDone: boolean): keyof Kills {
  if (!isKilled) return "ended";
  return isDone ? "done" : "undone";
}

/** Runs a command for so long. True if it had not ended by then. */
async function killed(args: readonly string[], afterMs: number): Promise<boolean> {
  const named = await onStoreUnderTest(args);
  const env = { ...cleanEnvironment, ...named.env };
  const child = Bun.spawn([await executable(), ...named.args], {
    env,
    stdio: ["ignore", "ignore", "ignore"],
  });
  await Promise.race([child.exited, Bun.sleep(afterMs)]);
  child.kill("SIGKILL");
  await child.exited;
  return child.signalCode === "SIGKILL";
}

function isList(text: string, version: number): boolean {
  const found = JSON.parse(text) as { readonly name: string }[];
  const isOwn = found.every(({ name }) => name.endsWith(` v${version}`));
  return isOwn && found.length === animals;
}

if (import.meta.main) {
  const { values } = argumentsOf({
    options: {
      runs: { type: "string", default: "200" },
      seed: { type: "string", default: String(Date.now() % 2 ** 31) },
    },
  });
  try {
    for (const [kind, kills] of Object.entries(
      await killImports(Number(values.runs), Number(values.seed)),
    )) {
      const { ended, undone, done } = kills;
      process.stdout.write(
        `${kind} with --seed ${values.seed}: ${ended} had ended, ${undone} were killed and had changed nothing, ${done} were killed and had done everything.\n`,
      );
      if (ended === 0 || undone === 0) throw new Error(`the moments of ${kind} are not spread`);
    }
  } finally {
    await dropDatabases();
  }
}
