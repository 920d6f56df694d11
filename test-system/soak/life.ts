/** One store under creates, reads and limits, and what is killed of it. */
import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Acknowledged } from "../../test/helpers/acknowledged.ts";
import {
  cleanEnvironment,
  executable,
  rehome,
  serve,
  temporaryFolder,
  type RunningBinary,
} from "../../test/helpers/binary.ts";
import { load, portOf, requestText } from "../../test/helpers/load.ts";
import { startServer, testDatabase } from "../../test/helpers/postgres.ts";
import { until } from "../../test/helpers/until.ts";

/** What a run came to. */
export interface KillRun {
  readonly seed: number;
  readonly began: string;
  minutes: number;
  /** By what was killed. */
  readonly kills: Record<Victim, number>;
  /** Creates that were answered with 201, all of which were there afterwards. */
  acknowledged: number;
  /** Animals of creates that were killed before their answer. */
  unanswered: number;
  reads: number;
  /** Requests of the keys with a limit that were admitted, and refused with 429. */
  admitted: number;
  limited: number;
  /** The most that a key was admitted in one minute, of its limit. */
  admittedMost: number;
  /** Resident memory of the server before it was killed, in MiB: the most. */
  memoryMost: number;
}

type Victim = "server" | "server at its start" | "database";

const writers = 12;
const readers = 4;
/** What the key with a limit may do. */
export const limitPerMinute = 240;
const roomy = ["--per-minute", "1000000000", "--per-day", "1000000000"];

export function killsOf({ kills }: KillRun): number {
  return Object.values(kills).reduce((sum, count) => sum + count, 0);
}

/** Where the animals are, and what can be killed of it. */
interface Place {
  readonly folder: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Kills the database, and starts it again. */
  readonly killDatabase: (() => Promise<void>) | undefined;
  /** Throws where a file is damaged. Nobody has it open. */
  check(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

export function newPlace(store: "sqlite" | "postgres"): Promise<Place> {
  return store === "sqlite" ? dataFolder() : database();
}

async function dataFolder(): Promise<Place> {
  const folder = temporaryFolder();
  return {
    folder: folder.path,
    env: {},
    killDatabase: undefined,
    check() {
      for (const name of ["rehome.db", "limits.db"]) {
        using db = new Database(join(folder.path, name));
        expect(db.query("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
      }
    },
    [Symbol.asyncDispose]: async () => folder[Symbol.dispose](),
  };
}

async function database(): Promise<Place> {
  const server = await startServer("fsync=on");
  const { url, sql } = await testDatabase(server.url);
  await sql.close();
  return {
    folder: undefined,
    env: { REHOME_STORE: url },
    // An immediate shutdown drops everything as a crash does; the next start recovers from the log.
    killDatabase: () => server.restart("SIGQUIT"),
    check() {},
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

/** One store, from its first animal to its last kill. */
export class Life {
  readonly #place: Place;
  readonly #run: KillRun;
  readonly #next: () => number;
  readonly #acknowledged = new Acknowledged();
  /** Admitted requests of the limited key by the second in which their window ends. */
  readonly #admitted = new Map<number, number>();
  #unanswered = 0;
  #key = "";
  #limited = "";

  constructor(place: Place, run: KillRun, next: () => number) {
    this.#place = place;
    this.#run = run;
    this.#next = next;
  }

  async spend(kills: number): Promise<void> {
    this.#key = await this.#makeKey(roomy);
    this.#limited = await this.#makeKey([
      "--per-minute",
      String(limitPerMinute),
      "--per-day",
      "1000000",
    ]);
    const before = killsOf(this.#run);
    let server = await this.#serve();
    while (killsOf(this.#run) - before < kills) {
      server = await this.#round(server);
      await this.#verify(server);
    }
    this.#run.acknowledged += this.#acknowledged.animals.size;
    this.#run.unanswered += this.#unanswered;
    expect(await server.stop()).toBe(0);
    this.#place.check();
  }

  /** Loads the server, kills it or what is beside it, and returns the one that goes on. */
  async #round(server: RunningBinary): Promise<RunningBinary> {
    let isOver = false;
    const over = () => isOver;
    const loads = [
      this.#acknowledged.create(server, this.#key, writers, over),
      this.#read(server, over),
      this.#useLimit(server, over),
    ];
    const victim = this.#choose();
    await Bun.sleep(30 + this.#next() ** 2 * 1_000);
    this.#run.memoryMost = Math.max(this.#run.memoryMost, memoryMiB(server.pid));
    this.#run.kills[victim] += 1;
    let next = server;
    if (victim === "database") await this.#killDatabase(server);
    else {
      // Some of them while they stop.
      if (this.#next() < 0.2) process.kill(server.pid, "SIGTERM");
      await server.stop("SIGKILL");
      if (victim === "server at its start") await this.#killAtStart();
      next = await this.#serve();
    }
    isOver = true;
    await Promise.all(loads);
    return next;
  }

  #choose(): Victim {
    const number = this.#next();
    if (this.#place.killDatabase !== undefined && number < 0.45) return "database";
    return number > 0.75 ? "server at its start" : "server";
  }

  async #killDatabase(server: RunningBinary): Promise<void> {
    await this.#place.killDatabase?.();
    const headers = { Authorization: `Bearer ${this.#key}` };
    const list = () => fetch(`${server.origin}/v1/pets?limit=1`, { headers });
    await until(async () => (await list()).status === 200, 30_000);
  }

  /** Another server, which is killed before it has begun, or soon after. */
  async #killAtStart(): Promise<void> {
    const child = await this.#spawn(["serve", "--port", "0"]);
    await Bun.sleep(this.#next() * 120);
    child.kill("SIGKILL");
    await child.exited;
  }

  async #spawn(args: readonly string[]) {
    const { folder, env } = this.#place;
    const data = folder === undefined ? [] : ["--data", folder];
    return Bun.spawn([await executable(), ...args, ...data], {
      env: { ...cleanEnvironment, ...env },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
    });
  }

  #serve(): Promise<RunningBinary> {
    const { folder, env } = this.#place;
    return serve(folder, ["--bans", "off"], { env });
  }

  async #makeKey(limits: readonly string[]): Promise<string> {
    const name = `soak, ${limits[1]} a minute`;
    const key = ["keys", "create", "--name", name, "--plan", "enterprise", "--json", ...limits];
    return (JSON.parse(await this.#command(key)) as { key: string }).key;
  }

  async #command(args: readonly string[]): Promise<string> {
    const { folder, env } = this.#place;
    const data = folder === undefined ? [] : ["--data", folder];
    const { exitCode, stdout, stderr } = await rehome([...args, ...data], { env });
    if (exitCode !== 0) throw new Error(stderr);
    return stdout;
  }

  /** Pages from anywhere, each of which must be whole and in order. */
  async #read({ origin }: RunningBinary, isOver: () => boolean): Promise<void> {
    const { bodies, statuses } = await load({
      port: portOf(origin),
      clients: readers,
      keepAlive: true,
      isOver,
      pauseMs: 2,
      request: () => {
        const after = Math.floor(this.#next() * 3_000);
        return requestText("GET", `/v1/pets?limit=20&after=${after}`, this.#key);
      },
    });
    for (const body of bodies) {
      const page = JSON.parse(body) as { id: number }[] | { code: string };
      if (!Array.isArray(page)) continue;
      const ids = page.map(({ id }) => id);
      expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    }
    this.#run.reads += statuses.get(200) ?? 0;
    this.#requireKnown(statuses);
  }

  /** Uses a key's minute up, over and over. */
  async #useLimit({ origin }: RunningBinary, isOver: () => boolean): Promise<void> {
    const one = async () => {
      while (!isOver()) {
        const answer = await fetch(`${origin}/v1/pets?limit=1`, {
          headers: { Authorization: `Bearer ${this.#limited}` },
        }).catch(() => undefined);
        if (answer === undefined) await Bun.sleep(5);
        else {
          await answer.arrayBuffer().catch(() => undefined);
          this.#countLimited(answer);
          if (answer.status === 429) await Bun.sleep(20);
        }
      }
    };
    await Promise.all([one(), one()]);
  }

  #countLimited({ status, headers }: Response): void {
    if (status === 429) this.#run.limited += 1;
    if (status !== 200) return;
    const window = Number(headers.get("X-RateLimit-Reset"));
    const count = (this.#admitted.get(window) ?? 0) + 1;
    this.#admitted.set(window, count);
    this.#run.admitted += 1;
    this.#run.admittedMost = Math.max(this.#run.admittedMost, count);
    expect(count).toBeLessThanOrEqual(limitPerMinute);
  }

  #requireKnown(statuses: ReadonlyMap<number, number>): void {
    const unknown = [...statuses.keys()].filter((status) => status !== 200 && status !== 503);
    expect(unknown).toEqual([]);
  }

  /** Everything acknowledged is there as it was sent. */
  async #verify(server: RunningBinary): Promise<void> {
    const names = await this.#acknowledged.verified(server, this.#key);
    // Each request has a name of its own.
    expect(new Set(names).size).toBe(names.length);
    this.#unanswered = names.length - this.#acknowledged.animals.size;
  }
}

/** Resident memory of a process, or 0 when it is gone. */
function memoryMiB(pid: number): number {
  const file = `/proc/${pid}/status`;
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return 0;
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(file, "utf8"))?.[1] ?? 0) / 1_024);
}
