// One, two and four processes on one PostgreSQL: what each request costs the processes and the
// database, and which of them is used up first. `bun run bench scale [--seconds 4] [--processes
// 1,2,4]`.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { SQL } from "bun";
import { startServer as startPostgres } from "../test/helpers/postgres.ts";
import { animal, writeAnimals } from "./animals.ts";
import { runLoad, type Request } from "./load.ts";
import {
  cpuUsBetween,
  DidNotRun,
  freePort,
  run,
  startServer,
  usage,
  type Running,
  type Usage,
} from "./process.ts";
import { buildService, executable, type IssuedKey, unknownKey } from "./rehome.ts";
import { get } from "./scenarios.ts";

const animalCount = 100_000;
const connectionCount = 64;
const businessKeyCount = 300;
/** Enough that a run stays below the 60 requests that each has in its minute. */
const singleKeyCount = 2_000;

interface Scenario {
  readonly name: string;
  readonly requests: (keys: Keys) => Request[];
}

interface Keys {
  /** A key whose limits nothing here reaches. */
  readonly unbounded: string;
  /** Keys of the Business plan: a block of 17 requests each. */
  readonly business: readonly string[];
  /** Keys whose block is one request, so that each request is a take. */
  readonly single: readonly string[];
}

const scenarios: readonly Scenario[] = [
  { name: "list, one key", requests: ({ unbounded }) => [get("/v1/pets", unbounded)] },
  {
    name: "get, 10,000 animals in turn",
    requests: ({ unbounded }) =>
      Array.from({ length: 10_000 }, (_, at) => get(`/v1/pets/${at * 10 + 1}`, unbounded)),
  },
  {
    name: "create",
    requests: ({ unbounded }) => [
      {
        method: "POST",
        path: "/v1/pets",
        headers: { Authorization: `Bearer ${unbounded}`, "Content-Type": "application/json" },
        body: JSON.stringify(animal(1)),
      },
    ],
  },
  {
    name: `list, ${businessKeyCount} Business keys`,
    requests: ({ business }) => business.map(listed),
  },
  {
    name: `list, ${singleKeyCount} keys with blocks of 1`,
    requests: ({ single }) => single.map(listed),
  },
];
const listed = (key: string) => get("/v1/pets", key);

interface Figures {
  readonly perSecond: number;
  readonly p99Ms: number;
  /** Processor microseconds a request, of each side. */
  readonly serviceUs: number;
  readonly databaseUs: number;
  readonly loadUs: number;
  /** Transactions of the database for one request. */
  readonly transactions: number;
  readonly refused: number;
}

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "4" },
    processes: { type: "string", default: "1,2,4" },
  },
});
const seconds = Number(options.seconds);
const folder = mkdtempSync(join(tmpdir(), "rehome-scale-"));
await buildService();
// Commits are durable, as they are where it matters.
const postgres = await startPostgres("fsync=on");
const admin = new SQL(postgres.url, { max: 1 });
try {
  const keys = await prepare();
  process.stdout.write(
    "| scenario | processes | requests/s | p99 ms | service µs | database µs | load µs | transactions/request |\n" +
      "| --- | --- | --- | --- | --- | --- | --- | --- |\n",
  );
  for (const scenario of scenarios) {
    for (const processes of options.processes.split(",").map(Number)) {
      const figures = await measure(scenario.requests(keys), processes);
      process.stdout.write(row(scenario.name, processes, figures));
    }
  }
} finally {
  await admin.close();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Fills the database through the command line, as an operator would. */
async function prepare(): Promise<Keys> {
  const file = join(folder, "animals.ndjson");
  await writeAnimals(file, animalCount);
  await run([executable, "pets", "import", file, "--store", postgres.url]);
  const make = async (perMinute: number) => {
    const plan = [
      "--plan",
      "enterprise",
      "--per-minute",
      `${perMinute}`,
      "--per-day",
      "1000000000",
    ];
    const command = ["keys", "create", ...plan, "--name", `bench ${perMinute}`, "--json"];
    const out = await run([executable, ...command, "--store", postgres.url]);
    return JSON.parse(out) as IssuedKey;
  };
  return {
    unbounded: (await make(1_000_000_000)).key,
    // What a Business key and a Free key take at a time, without their limit in the minute.
    business: await clones(await make(1_000), businessKeyCount),
    single: await clones(await make(60), singleKeyCount),
  };
}

/** Keys that are as the given one but for id and secret: a process for each would take minutes. */
async function clones({ id }: IssuedKey, count: number): Promise<string[]> {
  const keys = Array.from({ length: count }, unknownKey);
  const ids = keys.map((_, at) => `${id}x${at}`);
  const hashes = keys.map((key) => new Bun.CryptoHasher("sha256").update(key).digest());
  await admin`
    INSERT INTO rehome.api_keys
    SELECT (jsonb_populate_record(k, jsonb_build_object('id', clone))).*
    FROM rehome.api_keys AS k, unnest(${ids}::text[]) AS clone WHERE k.id = ${id}`;
  await admin`
    INSERT INTO rehome.key_secrets (hash, key_id, mask, created_at_ms)
    SELECT hash, clone, '', 0 FROM unnest(${hashes}::bytea[], ${ids}::text[]) AS given (hash, clone)`;
  return keys;
}

async function measure(requests: Request[], processes: number): Promise<Figures> {
  // The limits of the last run are not to refuse this one.
  await admin`UPDATE rehome.rate_windows SET minute_label = 0, minute_used = 0`;
  const servers = await Promise.all(Array.from({ length: processes }, () => serve()));
  try {
    await loadAll(servers, requests, 1);
    await admin`UPDATE rehome.rate_windows SET minute_label = 0, minute_used = 0`;
    const before = await readings(servers);
    const { counted, loadUs } = await loadAll(servers, requests, seconds);
    const after = await readings(servers);
    const answered = counted.reduce((sum, { requests: n }) => sum + n, 0);
    if (answered === 0) throw new DidNotRun("nothing was answered");
    return {
      perSecond: answered / seconds,
      p99Ms: Math.max(...counted.map((each) => each.p99Ms)),
      serviceUs: cpuUs(before.services, after.services) / answered,
      databaseUs: cpuUs(before.database, after.database) / answered,
      loadUs: loadUs / answered,
      transactions: (after.transactions - before.transactions) / answered,
      refused: counted.reduce((sum, { statuses }) => sum + (statuses[429] ?? 0), 0) / answered,
    };
  } finally {
    await Promise.all(servers.map(({ stop }) => stop()));
  }
}

async function serve(): Promise<Running> {
  const port = await freePort();
  const args = ["serve", "--store", postgres.url, "--port", `${port}`, "--bans", "off"];
  const stderrFile = join(folder, `stderr-${port}`);
  return await startServer({ command: [executable, ...args], port, stderrFile, pinned: false });
}

/** The load of each process, all at once. */
async function loadAll(servers: readonly Running[], requests: Request[], forSeconds: number) {
  const connections = Math.max(1, Math.floor(connectionCount / servers.length));
  const before = process.cpuUsage();
  const counted = await Promise.all(
    servers.map(({ port }) => runLoad({ port, connections, seconds: forSeconds, requests })),
  );
  const { user, system } = process.cpuUsage(before);
  return { counted, loadUs: user + system };
}

async function readings(servers: readonly Running[]) {
  // Sessions tell the statistics of their transactions at most once a second.
  await Bun.sleep(1_100);
  const [row] = (await admin`
    SELECT xact_commit::int AS n FROM pg_stat_database WHERE datname = current_database()`) as [
    { n: number },
  ];
  return {
    services: servers.map(({ pid }) => usage(pid)),
    database: databaseProcesses().map((pid) => usage(pid)),
    transactions: row.n,
  };
}

/** The server and its processes. Those of connections live as long as the services do. */
function databaseProcesses(): number[] {
  const children = readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return (
        readFileSync(`/proc/${name}/stat`, "utf8").split(") ")[1]?.split(" ")[1] ===
        `${postgres.pid}`
      );
    } catch {
      return false;
    }
  });
  return [postgres.pid, ...children.map(Number)];
}

function cpuUs(before: readonly Usage[], after: readonly Usage[]): number {
  const sum = (usages: readonly Usage[]): Usage =>
    usages.reduce((all, each) => ({ ...all, cpuTicks: all.cpuTicks + each.cpuTicks }));
  return cpuUsBetween(sum(before), sum(after));
}

function row(name: string, processes: number, figures: Figures): string {
  const { perSecond, p99Ms, serviceUs, databaseUs, loadUs, transactions, refused } = figures;
  const cells = [
    refused > 0 ? `${name} (${Math.round(refused * 100)} % refused)` : name,
    String(processes),
    Math.round(perSecond).toLocaleString("en"),
    p99Ms.toFixed(1),
    serviceUs.toFixed(1),
    databaseUs.toFixed(1),
    loadUs.toFixed(1),
    transactions.toFixed(3),
  ];
  return `| ${cells.join(" | ")} |\n`;
}
