import { spawn, type ChildProcess } from "node:child_process";
import type { EnvironmentVariables } from "../../../config.ts";
import type { Logger } from "../../../service/log.ts";
import { program } from "../../schedule/child.ts";
import { restartPause } from "../restart-pause.ts";
import { type MemberMessage, protocol, type Sent, type SupervisorMessage } from "./parent.ts";

/** The first and the longest pause before a process that ended is replaced. */
const pauseMs = [100, 10_000] as const;
/** How long the start of a process may take that replaces another one. */
const startMaxMs = 60_000;
/** How much longer than its own shutdown timeout a process may take to end. */
const graceMs = 5_000;

/** The environment of the process in `slot`; `port` is undefined for the first one of all. */
type EnvironmentOf = (slot: number, port: number | undefined) => EnvironmentVariables;

interface SupervisorOptions {
  readonly count: number;
  readonly shutdownTimeoutMs: number;
  /** How long the connections of a process that was replaced may be kept. */
  readonly drainMs: number;
  readonly log: Logger;
  readonly envOf: EnvironmentOf;
}

/** Keeps serving processes at one address: replaces what ends, and stops all in order. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  #members: Member[] = [];
  #port: number | undefined;
  #envOf: EnvironmentOf;
  #isStopping = false;
  #handingOver: Promise<void> | undefined;
  readonly #pauses: readonly ReturnType<typeof restartPause>[];

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#envOf = options.envOf;
    this.#pauses = Array.from({ length: options.count }, () => restartPause(...pauseMs));
  }

  /** Resolves with true once all processes serve, with false if the first one did not start. */
  async start(): Promise<boolean> {
    // Alone: it makes the store, and finds out whether the address can be used.
    const first = this.#add(0);
    this.#port = await first.ready;
    if (this.#port === undefined) return false;
    void this.#watch(first);
    const others = Array.from({ length: this.#options.count - 1 }, (_, at) => this.#add(at + 1));
    for (const member of others) void this.#watch(member);
    await Promise.all(others.map(({ ready }) => ready));
    return true;
  }

  get members(): readonly Member[] {
    return this.#members;
  }

  /**
   * Replaces the processes one by one, by the executable as it is on the disk now. If one does not
   * start, those that are left go on. Resolves when it is over, but for connections that are kept.
   */
  handOver(envOf: EnvironmentOf): Promise<void> {
    this.#handingOver = this.#replaceAll(envOf).finally(() => (this.#handingOver = undefined));
    return this.#handingOver;
  }

  /** Stops all processes and resolves when they have ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#members.map((member) => this.#end(member)));
  }

  async #replaceAll(envOf: EnvironmentOf): Promise<void> {
    const { log, count, drainMs } = this.#options;
    // Each reload leaves processes whose connections are kept: those of one, not of many.
    for (const member of this.#members.filter((each) => each.isStopping)) void this.#end(member);
    for (let slot = 0; slot < count && !this.#isStopping; slot += 1) {
      const former = this.#members.filter((each) => each.slot === slot);
      const next = this.#add(slot, envOf);
      const late = setTimeout(() => next.signal("SIGKILL"), startMaxMs);
      const port = await next.ready;
      clearTimeout(late);
      if (port === undefined) {
        if (this.#isStopping) return;
        const how = await next.ended;
        log.error(`A new process did not start (${how}). The old ones keep serving.`);
        return;
      }
      void this.#watch(next);
      for (const member of former) void this.#end(member, drainMs);
    }
    this.#envOf = envOf;
    log.info("The new processes serve. The old ones end with their connections.");
  }

  #add(slot: number, envOf = this.#envOf): Member {
    const member = new Member(slot, envOf(slot, this.#port));
    this.#members.push(member);
    void this.#dropAtEnd(member);
    return member;
  }

  async #dropAtEnd(member: Member): Promise<void> {
    await member.ended;
    this.#members = this.#members.filter((each) => each !== member);
  }

  /** Replaces the member when it ends without having been asked to. */
  async #watch(member: Member): Promise<void> {
    const how = await member.ended;
    if (member.isStopping || this.#isStopping) return;
    const waitMs = this.#pauses[member.slot]?.(performance.now() - member.startedMs) ?? 0;
    const what = member.pid === 0 ? "A process did not start" : `Process ${member.pid} ended`;
    this.#options.log.error(`${what} (${how}). A new one starts in ${waitMs} ms.`);
    await Bun.sleep(waitMs);
    // A hand-over fills every place, unless it fails.
    await this.#handingOver;
    const isFilled = this.#members.some((each) => each.slot === member.slot && !each.isStopping);
    if (!this.#isStopping && !isFilled) void this.#watch(this.#add(member.slot));
  }

  /** Resolves when the process has ended. `drainMs` is for one that was replaced. */
  async #end(member: Member, drainMs?: number): Promise<void> {
    member.stop(drainMs);
    const maxMs = (drainMs ?? 0) + this.#options.shutdownTimeoutMs + graceMs;
    const force = setTimeout(() => member.signal("SIGKILL"), maxMs);
    await member.ended;
    clearTimeout(force);
  }
}

function start(slot: number, env: EnvironmentVariables): ChildProcess {
  const [file = "", ...args] = program();
  return spawn(file, [...args, "serve"], {
    env: { ...env },
    // Only the first one prints the banner. All of them write to one log.
    stdio: ["ignore", slot === 0 ? "inherit" : "ignore", "inherit", "ipc"],
    serialization: "json",
  });
}

export class Member {
  /** Its place among the processes, from 0. The first one speaks for all of them. */
  readonly slot: number;
  readonly startedMs = performance.now();
  /** Resolves with the port once it serves, and with undefined when it ends before. */
  readonly ready: Promise<number | undefined>;
  /** Resolves with the exit code, the signal that ended it, or why it could not be started. */
  readonly ended: Promise<number | string>;
  /** True once it was asked to stop. */
  isStopping = false;
  readonly #child: ChildProcess | undefined;
  /** Who waits for what it counted. */
  #askers: ((metrics: readonly object[]) => void)[] = [];

  constructor(slot: number, env: EnvironmentVariables) {
    this.slot = slot;
    const ready = Promise.withResolvers<number | undefined>();
    const ended = Promise.withResolvers<number | string>();
    this.ready = ready.promise;
    this.ended = ended.promise;
    const end = (how: number | string) => {
      ready.resolve(undefined);
      this.#tell([]);
      ended.resolve(how);
    };
    try {
      this.#child = start(slot, env);
    } catch (error) {
      // A file that the system cannot run. It may be another one at the next attempt.
      end((error as Error).message);
      return;
    }
    this.#child.on("message", (message) => {
      const said = message as Sent<MemberMessage>;
      // Nobody would know whether it serves, or could ask it to end.
      if (said.protocol !== protocol) this.signal("SIGKILL");
      else if (said.type === "ready") ready.resolve(said.port);
      else this.#tell(said.metrics);
    });
    this.#child.on("exit", (code, signal) => end(signal ?? code ?? 1));
    this.#child.on("error", ({ message }) => end(message));
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Asks it to finish the requests under way and to end; with `drainMs` see SupervisorMessage. */
  stop(drainMs?: number): void {
    this.isStopping = true;
    this.#send({ type: "stop", ...(drainMs !== undefined && { drainMs }) });
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Returns its metrics, or none when it ends before it answers. */
  metrics(): Promise<readonly object[]> {
    if (this.#child?.connected !== true) return Promise.resolve([]);
    const { promise, resolve } = Promise.withResolvers<readonly object[]>();
    this.#askers.push(resolve);
    this.#send({ type: "metrics" });
    return promise;
  }

  #tell(metrics: readonly object[]): void {
    for (const asker of this.#askers.splice(0)) asker(metrics);
  }

  #send(message: SupervisorMessage): void {
    if (this.#child?.connected !== true) return;
    this.#child.send({ ...message, protocol } satisfies Sent<SupervisorMessage>);
  }
}
