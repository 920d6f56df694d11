// Two measurements that are not rounds of wrk: memory over time at full speed, and the time to the
// first answer of a freshly started process.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { askFor } from "./capture.ts";
import { DidNotRun, freePort, loadCore, serverCore, usage } from "./process.ts";
import { rehomeTarget, serveCommand } from "./rehome.ts";
import { coldCount, deepPages, get, spread } from "./scenarios.ts";
import { median } from "./stats.ts";
import { type Request, runLoad } from "./wrk.ts";

export const rssGoalMiB = 120;
export const startGoalMs = 40;

export interface MemoryResult {
  readonly seconds: number;
  readonly requests: number;
  readonly idleMiB: number;
  /** Resident memory at the end of each minute (or of the run, when it is shorter). */
  readonly minutesMiB: readonly number[];
  readonly mostMiB: number;
  /** Of the last reading, what is not the mapped executable. */
  readonly anonymousMiB: number;
}

interface Source {
  readonly data: () => Promise<string>;
  readonly key: string;
  readonly animals: number;
  readonly folder: string;
}

/** Every operation: lists, filtered lists, deep pages, single animals and one create in fifty. */
function mixed({ key, animals }: Source): Request[] {
  const post: Request = {
    method: "POST",
    path: "/v1/pets",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify({ name: "Rex", categoryId: 1, status: "available" }),
  };
  const deep = deepPages(key, animals);
  return spread(coldCount, animals).map((id, i) => {
    if (i % 50 === 0) return post;
    if (i % 4 === 0) return get("/v1/pets", key);
    if (i % 4 === 1) return get("/v1/pets?status=available&limit=50", key);
    return i % 4 === 2 ? (deep[i] as Request) : get(`/v1/pets/${id}`, key);
  });
}

/** Resident memory over `seconds` of mixed load at full speed. Throws DidNotRun. */
export async function memory(source: Source, seconds: number): Promise<MemoryResult> {
  const folder = join(source.folder, "memory");
  mkdirSync(folder, { recursive: true });
  const target = rehomeTarget({ name: "rehome", data: source.data, copy: true });
  const server = await target.start({ folder, reference: undefined });
  try {
    const idleMiB = usage(server.pid).rssMiB;
    const requests = mixed(source);
    const { port } = server;
    const load = runLoad({ port, connections: 64, seconds, requests, folder });
    const readings: number[] = [];
    const sample = async (): Promise<void> => {
      for (let second = 1; second <= seconds; second++) {
        await Bun.sleep(1000);
        readings.push(usage(server.pid).rssMiB);
      }
    };
    const [counted] = await Promise.all([load, sample()]);
    if (counted.refused > 0) throw new DidNotRun(`${counted.refused} requests were refused`);
    if (counted.socketErrors > 0) throw new DidNotRun(`${counted.socketErrors} socket errors`);
    const ends = readings.filter((_, i) => (i + 1) % 60 === 0);
    return {
      seconds,
      requests: counted.requests,
      idleMiB,
      minutesMiB: ends.length > 0 ? ends : readings.slice(-1),
      mostMiB: Math.max(...readings),
      anonymousMiB: usage(server.pid).anonymousMiB,
    };
  } finally {
    await server.stop();
  }
}

export interface StartResult {
  readonly runs: number;
  readonly medianMs: number;
  readonly leastMs: number;
  readonly mostMs: number;
}

/** Time from exec to the first 200 of GET /v1/pets, on two cores. Throws DidNotRun. */
export async function startTimes(source: Source, runs: number): Promise<StartResult> {
  const times: number[] = [];
  for (let i = 0; i < runs; i++) times.push(await oneStart(source));
  return {
    runs,
    medianMs: median(times),
    leastMs: Math.min(...times),
    mostMs: Math.max(...times),
  };
}

async function oneStart({ data, key, folder }: Source): Promise<number> {
  const port = await freePort();
  const command = serveCommand(port, await data(), join(folder, "start.log"));
  const begin = performance.now();
  const child = Bun.spawn(["taskset", "-c", `${serverCore},${loadCore}`, ...command], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  try {
    while (!(await listening(port))) {
      await Bun.sleep(pollMs);
      if (child.exitCode !== null) throw new DidNotRun(`serve exited ${child.exitCode}`);
      if (performance.now() - begin > 10_000) throw new DidNotRun("serve did not answer in 10 s");
    }
    await askFor(port, get("/v1/pets", key), 200);
    return performance.now() - begin;
  } finally {
    child.kill("SIGTERM");
    await child.exited;
  }
}

/** Pause between two attempts to connect: without it they would take a core from the start. */
const pollMs = 0.5;

/** Whether a connection is taken. */
async function listening(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } });
    socket.end();
    return true;
  } catch {
    return false;
  }
}
