// `bun run bench profile SCENARIO`: where the service's time goes under one scenario's load. It
// runs from source under Bun's sampling profiler, so only the shares count.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runLoad } from "./load.ts";
import { DidNotRun, freePort, startServer } from "./process.ts";
import { root, buildService, serveCommand } from "./rehome.ts";
import { animalCount, ladder, main } from "./scenarios.ts";
import { makeStores } from "./stores.ts";

const warmupSeconds = 2;
const loadSeconds = 5;

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
    };
    readonly hitCount?: number;
  }[];
  readonly samples?: readonly number[];
}

/** The functions with the most samples of their own, as lines of "share  function  place". */
function busiest({ nodes, samples = [] }: Profile, most: number): string[] {
  const own = new Map<string, number>();
  const byId = new Map(nodes.map((node) => [node.id, node.callFrame]));
  for (const id of samples) {
    const frame = byId.get(id);
    if (frame === undefined) continue;
    const file = frame.url.replace(/^.*\/(src|node_modules)\//, "$1/");
    const place = `${frame.functionName || "(anonymous)"}  ${file}:${frame.lineNumber + 1}`;
    own.set(place, (own.get(place) ?? 0) + 1);
  }
  return [...own]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, most)
    .map(
      ([place, count]) => `${((100 * count) / samples.length).toFixed(1).padStart(5)} %  ${place}`,
    );
}

async function profile(name: string, folder: string): Promise<string[]> {
  await buildService();
  const stores = await makeStores(folder, 1, (text) => process.stderr.write(text));
  const world = { stores, withPeers: false };
  const all = [...main(world), ladder(world)];
  const scenario = all.find((candidate) => candidate.name === name);
  if (scenario === undefined) {
    throw new DidNotRun(`no scenario ${name}; there are ${all.map((one) => one.name).join(", ")}`);
  }
  const port = await freePort();
  const [, ...serve] = serveCommand(
    port,
    await stores.withAnimals(animalCount)(),
    join(folder, "access.log"),
  );
  const profiler = ["--cpu-prof", `--cpu-prof-dir=${folder}`, "--cpu-prof-interval=200"];
  const command = [process.execPath, ...profiler, join(root, "src", "main.ts"), ...serve];
  const server = await startServer({ command, port, stderrFile: join(folder, "stderr.txt") });
  for (const [round, seconds] of [warmupSeconds, loadSeconds].entries()) {
    await scenario.arrange?.(port, round, seconds);
    const requests = await scenario.requests(round, "rehome");
    await runLoad({ port, connections: scenario.connections, seconds, requests });
  }
  await server.stop();
  const file = readdirSync(folder).find((entry) => entry.endsWith(".cpuprofile"));
  if (file === undefined) throw new DidNotRun("Bun wrote no profile");
  return busiest((await Bun.file(join(folder, file)).json()) as Profile, 40);
}

const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), "rehome-profile-"));
try {
  const lines = await profile(process.argv[2] ?? "", folder);
  process.stdout.write(`${lines.join("\n")}\n`);
} catch (error) {
  if (!(error instanceof DidNotRun)) throw error;
  process.stderr.write(`Error: ${error.message}\n`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
