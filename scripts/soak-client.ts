/**
 * `bun run soak:client [MINUTES]`: a generated client adds and reads animals for ten minutes. A
 * third of the way the server is stopped and started again, and two thirds of the way killed. In
 * the end each animal that the client knows is there once, no other one is, and nothing failed
 * but what the two endings explain. Ends with 1 when that does not hold.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { makeKey, rehome, roomy, serve, temporaryFolder } from "../test/helpers/binary.ts";
import { portOf } from "../test/helpers/load.ts";
import { runTool, toolsFolder } from "../test/helpers/tools.ts";

const minutes = Number(process.argv[2] ?? 10);
/** What was on its way when the server came back may fail as late as this. */
const settleMs = 2_000;
const say = (text: string) => void process.stdout.write(`${text}\n`);

interface Report {
  readonly added: readonly { name: string; id: number; attempts: number }[];
  readonly failures: readonly { atMs: number; what: string }[];
  readonly reads: number;
  readonly replays: number;
}
interface Ending {
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Makes the client's types from the document of this version. */
async function generate(): Promise<void> {
  const generated = join(toolsFolder, "generated");
  mkdirSync(generated, { recursive: true });
  await Bun.write(join(generated, "openapi.json"), (await rehome(["openapi"])).stdout);
  const from = "generated/openapi.json";
  const { exitCode, stderr } = await runTool(
    "openapi-typescript",
    from,
    "--output",
    "generated/schema.d.ts",
  );
  if (exitCode !== 0) throw new Error(stderr);
}

/** All animals by name, with the ids that stand under it. */
async function storedAnimals(origin: string, key: string): Promise<Map<string, number[]>> {
  const stored = new Map<string, number[]>();
  let next: string | undefined = `${origin}/v1/pets?limit=100`;
  while (next !== undefined) {
    const answer: Response = await fetch(next, { headers: { authorization: `Bearer ${key}` } });
    for (const { id, name } of (await answer.json()) as { id: number; name: string }[]) {
      stored.set(name, [...(stored.get(name) ?? []), id]);
    }
    next = /<([^>]+)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
  }
  return stored;
}

function counts(values: readonly string[]): string {
  const found = Map.groupBy(values, (value) => value);
  return [...found].map(([value, all]) => `${value} ${all.length}`).join(", ") || "none";
}

async function soak(): Promise<boolean> {
  using folder = temporaryFolder();
  await generate();
  const { key } = await makeKey(folder.path, ...roomy);
  let server = await serve(folder.path);
  const port = String(portOf(server.origin));
  const client = Bun.spawn([process.execPath, join(toolsFolder, "clients/soak.ts")], {
    env: {
      ...process.env,
      API_URL: `${server.origin}/v1`,
      API_KEY: key,
      SECONDS: String(minutes * 60),
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const printed = client.stdout.text();
  const endings: Ending[] = [];
  for (const [name, signal] of [
    ["stop", "SIGTERM"],
    ["kill", "SIGKILL"],
  ] as const) {
    await Bun.sleep(minutes * 20_000);
    const fromMs = Date.now();
    await server.stop(signal);
    server = await serve(folder.path, ["--port", port]);
    endings.push({ name, fromMs, toMs: Date.now() + settleMs });
    say(`${name}: the server was away for ${Date.now() - fromMs} ms`);
  }
  const { added, failures, reads, replays } = JSON.parse(await printed) as Report;
  const stored = await storedAnimals(server.origin, key);
  await server.stop();

  const lost = added.filter(({ name, id }) => stored.get(name)?.includes(id) !== true);
  const doubled = [...stored.values()].filter((ids) => ids.length > 1);
  const known = new Set(added.map(({ name }) => name));
  const strange = [...stored.keys()].filter((name) => !known.has(name));
  const within = ({ atMs }: { atMs: number }, { fromMs, toMs }: Ending) =>
    fromMs <= atMs && atMs <= toMs;
  for (const ending of endings) {
    const own = failures.filter((failure) => within(failure, ending)).map(({ what }) => what);
    say(`failed at the ${ending.name}: ${counts(own)}`);
  }
  const unexplained = failures
    .filter((failure) => !endings.some((ending) => within(failure, ending)))
    .map(({ what }) => what);
  const again = added.filter(({ attempts }) => attempts > 1).length;
  say(`${added.length} animals added, ${reads} read, in ${minutes} minutes`);
  say(`${again} were sent more than once, ${replays} of them got the first 201 again`);
  say(`lost ${lost.length}, doubled ${doubled.length}, never sent ${strange.length}`);
  say(`unexplained: ${counts(unexplained)}`);
  return lost.length + doubled.length + strange.length + unexplained.length === 0;
}

if (!(minutes > 0)) {
  process.stderr.write(`Error: the minutes must be a number above 0, not "${process.argv[2]}"\n`);
  process.exit(2);
}
process.exitCode = (await soak()) ? 0 : 1;
