/**
 * What the staff's console costs the interface: the latency of `GET /v1/pets` at a steady rate, in
 * windows that take turns without and with people who search and export on the console. The
 * executable is built first. Usage: bun bench/console.ts [animals]
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeKey, rehome, roomy, temporaryFolder } from "../test/helpers/binary.ts";
import { invite, serveConsole, Visitor } from "../test/helpers/console.ts";
import { median } from "./stats.ts";

const animals = Number(process.argv[2] ?? 100_000);
const rounds = 15;
const windowMs = 3_000;
/** Requests of the interface: 100 a second, as nobody's latency should hang on the load itself. */
const everyMs = 10;
/** Each is asked for again as soon as it has come: some fifty people who read. */
const paths = ["/animals", "/animals?q=animal%209", "/export/csv?status=sold"];

using folder = temporaryFolder();
const list = join(folder.path, "list.csv");
const states = ["available", "pending", "sold"];
const rows = Array.from({ length: animals }, (_, at) => `Animal ${at},1,${states[at % 3]}`);
writeFileSync(list, `name,categoryId,status\n${rows.join("\n")}\n`);
const data = join(folder.path, "data");
const { exitCode, stderr } = await rehome(["pets", "import", list, "--data", data]);
if (exitCode !== 0) throw new Error(stderr);
const { key } = await makeKey(data, ...roomy);
await using server = await serveConsole(data);
const visitor = await new Visitor(server.console).join(await invite(data, "Ana", "operator"));

const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
const print = (text: string) => void process.stdout.write(`${text}\n`);

async function latency(): Promise<number> {
  const begun = performance.now();
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${server.origin}/v1/pets`, { headers });
  await answer.arrayBuffer();
  if (answer.status !== 200) throw new Error(`the interface answered ${answer.status}`);
  return performance.now() - begun;
}

/** Latencies in ms of the requests of a window, each begun on time, whatever became of the last. */
async function measured(): Promise<readonly number[]> {
  const asked: Promise<number>[] = [];
  const begun = performance.now();
  for (let at = 0; at * everyMs < windowMs; at += 1) {
    const waitMs = begun + at * everyMs - performance.now();
    if (waitMs > 0) await Bun.sleep(waitMs);
    asked.push(latency());
  }
  return Promise.all(asked);
}

/** Programs that ask for pages, behind everybody else: people's phones are not on this machine. */
async function withPeople(): Promise<readonly number[]> {
  const visits = paths.map((path) =>
    Bun.spawn(
      [
        "nice",
        "-n",
        "19",
        "wrk",
        "-t1",
        "-c1",
        `-d${windowMs / 1_000}s`,
        "-H",
        `Cookie: ${cookie}`,
      ].concat(new URL(path, server.console).href),
      { stdout: "pipe" },
    ),
  );
  const found = await measured();
  const pages = await Promise.all(
    visits.map(async ({ stdout }) => Number(/(\d+) requests in/.exec(await stdout.text())?.[1])),
  );
  print(`  ${pages.join(" + ")} pages of the console`);
  return found;
}

const quantile = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;

await measured();
const without: number[] = [];
const during: number[] = [];
for (let round = 1; round <= rounds; round += 1) {
  const [calm, busy] = [quantile(await measured(), 0.99), quantile(await withPeople(), 0.99)];
  without.push(calm);
  during.push(busy);
  print(`${round}: p99 ${calm.toFixed(2)} ms without, ${busy.toFixed(2)} ms with`);
}
const difference = median(during.map((each, at) => each - (without[at] ?? 0)));
print(
  `median p99: ${median(without).toFixed(2)} ms without, ${median(during).toFixed(2)} ms with; ` +
    `median difference ${difference.toFixed(2)} ms`,
);
await server.stop();
