// Two measurements that are not rounds: memory over time at full speed, and the time to the first
// response of a freshly started process.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Request, runLoad } from "./load.ts";
import { afterStart, DidNotRun, freePort, startTime, usage } from "./process.ts";
import { rehomeTarget, serveCommand } from "./rehome.ts";
import { animalCount, coldCount, createOf, deepPages, get, spread } from "./scenarios.ts";
import { median } from "./stats.ts";
import type { Stores } from "./stores.ts";

export interface MemoryResult {
  readonly seconds: number;
  readonly requests: number;
  readonly idleMiB: number;
  /** Resident memory at the end of each minute (or of the run, when it is shorter). */
  readonly minutesMiB: readonly number[];
  readonly mostMiB: number;
  /** Thirty seconds after the load. */
  readonly afterMiB: number;
}

const restSeconds = 30;

/** Every operation: lists, filtered lists, deep pages, single animals and one create in fifty. */
function mixed(key: string): Request[] {
  const deep = deepPages(key, animalCount);
  return spread(coldCount, animalCount).map((id, i) => {
    if (i % 50 === 0) return createOf(key);
    if (i % 4 === 0) return get("/v1/pets", key);
    if (i % 4 === 1) return get("/v1/pets?status=available&limit=50", key);
    return i % 4 === 2 ? (deep[i] as Request) : get(`/v1/pets/${id}`, key);
  });
}

/** Resident memory over `seconds` of mixed load at full speed. Throws DidNotRun. */
export async function memory(stores: Stores, folder: string, seconds: number) {
  const own = join(folder, "memory");
  mkdirSync(own, { recursive: true });
  const data = stores.withAnimals(animalCount);
  const target = rehomeTarget({ name: "rehome", data, copy: true });
  const server = await target.start({ folder: own, reference: undefined });
  try {
    const idleMiB = (await afterStart(server.pid)).rssMiB;
    const requests = mixed(stores.keys.unbounded);
    const load = runLoad({ port: server.port, connections: 64, seconds, requests });
    const readings: number[] = [];
    const sample = async (): Promise<void> => {
      for (let second = 1; second <= seconds; second++) {
        await Bun.sleep(1000);
        readings.push(usage(server.pid).rssMiB);
      }
    };
    const [counted] = await Promise.all([load, sample()]);
    const served = (counted.statuses[200] ?? 0) + (counted.statuses[201] ?? 0);
    if (served < counted.requests) throw new DidNotRun("some requests were refused");
    await Bun.sleep(restSeconds * 1000);
    const ends = readings.filter((_, i) => (i + 1) % 60 === 0);
    const result: MemoryResult = {
      seconds,
      requests: counted.requests,
      idleMiB,
      minutesMiB: ends.length > 0 ? ends : readings.slice(-1),
      mostMiB: Math.max(...readings),
      afterMiB: usage(server.pid).rssMiB,
    };
    return result;
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
export async function startTimes(stores: Stores, runs: number) {
  const data = await stores.withAnimals(animalCount)();
  const { path, headers } = get("/v1/pets", stores.keys.unbounded);
  const times: number[] = [];
  for (let i = 0; i < runs; i++) {
    const port = await freePort();
    const command = serveCommand(port, data);
    times.push(await startTime(command, port, path, headers));
  }
  const [leastMs, mostMs] = [Math.min(...times), Math.max(...times)];
  const result: StartResult = { runs, medianMs: median(times), leastMs, mostMs };
  return result;
}
