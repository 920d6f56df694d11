import { spawn, type ChildProcess } from "node:child_process";
import type { MinuteBuckets } from "../../../service/anonymous.ts";
import type { TrafficMeter } from "../traffic.ts";
import type { MemberMessage, SupervisorMessage } from "./messages.ts";

export interface MemberOptions {
  /** Its place among the processes, from 0. The first one speaks for all of them. */
  readonly slot: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What callers without a key have used at all processes together. */
  readonly buckets: MinuteBuckets;
  /** What all processes answered, where somebody wants to know. */
  readonly traffic: TrafficMeter | undefined;
}

/** What runs this program again: the executable, or Bun with the file that it was started on. */
const command = Bun.isStandaloneExecutable
  ? [process.execPath]
  : [process.execPath, process.argv[1] ?? ""];

/** A serving process, as its supervisor holds it. */
export class Member {
  readonly slot: number;
  readonly startedMs = performance.now();
  /** Resolves with the port once it serves, and with undefined when it ends before. */
  readonly ready: Promise<number | undefined>;
  /** Resolves with the exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** True once it was asked to stop. */
  isStopping = false;
  readonly #child: ChildProcess;
  readonly #questions = new Map<number, (metrics: readonly object[]) => void>();
  #lastId = 0;

  constructor(options: MemberOptions) {
    const { slot, env } = options;
    this.slot = slot;
    const [program = "", ...args] = command;
    this.#child = spawn(program, [...args, "serve"], {
      env: { ...env },
      // Only the first one prints the banner. All of them write to one log.
      stdio: ["ignore", slot === 0 ? "inherit" : "ignore", "inherit", "ipc"],
      serialization: "json",
    });
    const ready = Promise.withResolvers<number | undefined>();
    const ended = Promise.withResolvers<number | NodeJS.Signals>();
    this.ready = ready.promise;
    this.ended = ended.promise;
    this.#child.on("message", (message) => {
      const said = message as MemberMessage;
      if (said.type === "ready") ready.resolve(said.port);
      else this.#heard(said, options);
    });
    const end = (how: number | NodeJS.Signals) => {
      ready.resolve(undefined);
      for (const answer of this.#questions.values()) answer([]);
      ended.resolve(how);
    };
    this.#child.on("exit", (code, signal) => end(signal ?? code ?? 1));
    this.#child.on("error", () => end(1));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Asks it to finish the requests under way and to end. */
  stop(): void {
    this.isStopping = true;
    this.#send({ type: "stop" });
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Returns its metrics, or none when it ends before it answers. */
  metrics(): Promise<readonly object[]> {
    const { promise, resolve } = Promise.withResolvers<readonly object[]>();
    if (!this.#child.connected) return Promise.resolve([]);
    this.#lastId += 1;
    this.#questions.set(this.#lastId, resolve);
    this.#send({ type: "metrics", id: this.#lastId });
    return promise;
  }

  #heard(said: Exclude<MemberMessage, { type: "ready" }>, { buckets, traffic }: MemberOptions) {
    switch (said.type) {
      case "take": {
        const taken = buckets.take(said.bucket, said.want);
        return this.#send({ type: "taken", id: said.id, taken });
      }
      case "metrics":
        this.#questions.get(said.id)?.(said.metrics);
        this.#questions.delete(said.id);
        return undefined;
      case "answered":
        return traffic?.add(said.answered);
      case "traffic":
        if (traffic === undefined) return undefined;
        return this.#send({ type: "traffic", id: said.id, traffic: traffic.lastHour() });
    }
  }

  #send(message: SupervisorMessage): void {
    if (this.#child.connected) this.#child.send(message);
  }
}
