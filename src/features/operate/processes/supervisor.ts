import { spawn, type ChildProcess } from "node:child_process";
import type { EnvironmentVariables } from "../../../config.ts";
import type { Logger } from "../../../service/log.ts";
import { program } from "../../schedule/child.ts";
import { RestartPause } from "../restart-pause.ts";
import { type MemberMessage, Questions, type SupervisorMessage } from "./parent.ts";

/** The first and the longest pause before a process that ended is replaced. */
const pauseMs = [100, 10_000] as const;
/** How much longer than its own shutdown timeout a process may take to end. */
const graceMs = 5_000;

interface SupervisorOptions {
  readonly count: number;
  readonly shutdownTimeoutMs: number;
  readonly log: Logger;
  /** The environment of the process in `slot`; `port` is undefined for that of the settings. */
  readonly envOf: (slot: number, port: number | undefined) => EnvironmentVariables;
}

/** Keeps serving processes at one address: replaces what ends, and stops all in order. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  #members: Member[] = [];
  #port: number | undefined;
  #isStopping = false;
  #handingOver: Promise<void> | undefined;
  readonly #pauses: readonly RestartPause[];

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#pauses = Array.from({ length: options.count }, () => new RestartPause(...pauseMs));
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

  /** Makes every process reopen its files. One that starts has no listener yet and would end. */
  reload(): void {
    for (const member of this.#members) void member.ready.then(() => member.signal("SIGHUP"));
  }

  /**
   * Replaces every process by one of the executable as it is on the disk now. The old ones stop
   * once all new ones serve; if one of those does not start, the old ones go on.
   */
  handOver(): Promise<void> {
    this.#handingOver ??= this.#replaceAll().finally(() => (this.#handingOver = undefined));
    return this.#handingOver;
  }

  /** Stops all processes and resolves when they have ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#members.map((member) => this.#end(member)));
  }

  async #replaceAll(): Promise<void> {
    const { log, count } = this.#options;
    const former = [...this.#members];
    const next = Array.from({ length: count }, (_, slot) => this.#add(slot));
    const ports = await Promise.all(next.map(({ ready }) => ready));
    if (ports.includes(undefined)) {
      log.error("The new processes did not start. The old ones keep serving.");
      await Promise.all(next.map((member) => this.#end(member)));
      return;
    }
    for (const member of next) void this.#watch(member);
    log.info("The new processes serve. The old ones finish their requests.");
    await Promise.all(former.map((member) => this.#end(member)));
  }

  #add(slot: number): Member {
    const { envOf } = this.#options;
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
    const waitMs = this.#pauses[member.slot]?.after(performance.now() - member.startedMs) ?? 0;
    const what = member.pid === 0 ? "A process did not start" : `Process ${member.pid} ended`;
    this.#options.log.error(`${what} (${how}). A new one starts in ${waitMs} ms.`);
    await Bun.sleep(waitMs);
    // A hand-over fills every place, unless it fails.
    await this.#handingOver;
    const isFilled = this.#members.some(({ slot }) => slot === member.slot);
    if (!this.#isStopping && !isFilled) void this.#watch(this.#add(member.slot));
  }

  async #end(member: Member): Promise<void> {
    member.stop();
    const maxMs = this.#options.shutdownTimeoutMs + graceMs;
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
  readonly #metrics = new Questions<readonly object[]>();

  constructor(slot: number, env: EnvironmentVariables) {
    this.slot = slot;
    const ready = Promise.withResolvers<number | undefined>();
    const ended = Promise.withResolvers<number | string>();
    this.ready = ready.promise;
    this.ended = ended.promise;
    const end = (how: number | string) => {
      ready.resolve(undefined);
      this.#metrics.answerAll([]);
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
      const said = message as MemberMessage;
      if (said.type === "ready") ready.resolve(said.port);
      else this.#metrics.answer(said.id, said.metrics);
    });
    this.#child.on("exit", (code, signal) => end(signal ?? code ?? 1));
    this.#child.on("error", ({ message }) => end(message));
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Asks it to finish the requests under way and to end. */
  stop(): void {
    this.isStopping = true;
    this.#send({ type: "stop" });
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Returns its metrics, or none when it ends before it answers. */
  metrics(): Promise<readonly object[]> {
    if (this.#child?.connected !== true) return Promise.resolve([]);
    return this.#metrics.ask((id) => this.#send({ type: "metrics", id }));
  }

  #send(message: SupervisorMessage): void {
    if (this.#child?.connected === true) this.#child.send(message);
  }
}
