/** A store with the servers on it, and what can happen to them. */
import { join } from "node:path";
import { rehome, serve, temporaryFolder, type RunningBinary } from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import { childrenOf, isRunning, kill } from "../../test/helpers/family.ts";
import { freePort } from "../../test/helpers/free-port.ts";
import { testDatabase } from "../../test/helpers/postgres.ts";
import { until } from "../../test/helpers/ask.ts";
import { emptyCatalogue, type Catalogue } from "./catalogue.ts";
import type { StoreKind } from "./history.ts";

export const processesOf: Readonly<Record<StoreKind, number>> = {
  sqlite: 1,
  processes: 4,
  postgres: 2,
};

export class Place {
  readonly kind: StoreKind;
  readonly folder: string;
  /** What its animals may be at the moment. */
  catalogues: readonly Catalogue[] = [emptyCatalogue];
  /** The greatest id that was seen. */
  lastId = 0;
  readonly #executable: string;
  readonly #ports: number[] = [];
  readonly #servers: RunningBinary[] = [];
  readonly #env: Record<string, string>;
  readonly #release: () => void | Promise<void>;

  private constructor(
    kind: StoreKind,
    executable: string,
    folder: string,
    env: Record<string, string>,
    release: () => void | Promise<void>,
  ) {
    this.kind = kind;
    this.#executable = executable;
    this.folder = folder;
    this.#env = env;
    this.#release = release;
  }

  static async open(kind: StoreKind, executable: string): Promise<Place> {
    const folder = temporaryFolder();
    const database = kind === "postgres" ? await testDatabase() : undefined;
    const env: Record<string, string> =
      database === undefined
        ? { REHOME_DATA: join(folder.path, "data") }
        : { REHOME_STORE: database.url };
    const release = async () => {
      await database?.[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    };
    const place = new Place(kind, executable, folder.path, env, release);
    for (let server = 0; server < (kind === "postgres" ? 2 : 1); server += 1) {
      place.#ports.push(await freePort());
      await place.start(server);
    }
    return place;
  }

  port(server: number): number {
    return this.#ports[server] as number;
  }

  async start(server: number): Promise<void> {
    const port = String(this.#ports[server]);
    const limits = "--bans off --anonymous-per-minute 1000000 --log-level error".split(" ");
    const args = ["--port", port, ...limits];
    const count = this.kind === "processes" ? processesOf.processes : 1;
    const more = count === 1 ? [] : ["--processes", String(count)];
    const running = await serve(undefined, [...args, ...more], {
      env: { ...this.#env, SUPERVISOR_DRAIN_MS: "300" },
      path: this.#executable,
    });
    this.#servers[server] = running;
    if (count > 1) await until(() => childrenOf(running).length === count);
  }

  /** Asks a server to stop, and returns when it has. */
  async stop(server: number): Promise<void> {
    const running = this.#servers[server] as RunningBinary;
    const exitCode = await running.stop("SIGTERM");
    if (exitCode !== 0) throw new Error(`a stop ended with ${exitCode}:\n${running.stderr()}`);
  }

  /** Kills a server with all its processes, and returns when none of them is there. */
  async kill(server: number): Promise<void> {
    const running = this.#servers[server] as RunningBinary;
    const members = childrenOf(running);
    const stopped = running.stop("SIGKILL");
    members.forEach(kill);
    await stopped;
    await until(() => !members.some(isRunning));
  }

  /** Kills one of several processes; another one takes its place. */
  async killOne(server: number, choice: number): Promise<void> {
    const members = childrenOf(this.#servers[server] as RunningBinary);
    const member = members[Math.floor(choice * members.length)];
    if (member === undefined) return;
    kill(member);
    await until(() => !isRunning(member));
  }

  /** Has new processes take the place of all. The old ones end some time later. */
  async replace(server: number): Promise<void> {
    const running = this.#servers[server] as RunningBinary;
    const former = new Set(childrenOf(running));
    process.kill(running.pid, "SIGHUP");
    const isNew = (pid: number) => !former.has(pid);
    await until(() => childrenOf(running).filter(isNew).length === processesOf.processes);
  }

  /** Returns when processes that were replaced have ended. */
  async settle(): Promise<void> {
    if (this.kind !== "processes") return;
    const [running] = this.#servers as [RunningBinary];
    await until(() => childrenOf(running).length === processesOf.processes);
  }

  /** Runs a command before a history in this process, which is quicker. */
  prepare(args: readonly string[]) {
    return command(args, { env: this.#env });
  }

  /** Runs a command of the command line. */
  command(args: readonly string[]) {
    return rehome(args, { env: this.#env, cwd: this.folder, path: this.#executable });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const running of this.#servers) await running[Symbol.asyncDispose]();
    await this.#release();
  }
}
