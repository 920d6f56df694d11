import { spawn, type ChildProcess } from "node:child_process";
import type { MinuteBuckets } from "../../../service/anonymous.ts";
import type { MemberMessage, SupervisorMessage } from "./messages.ts";
import { program } from "../../program.ts";
import { Questions } from "./questions.ts";

export interface MemberOptions {
  /** Its place among the processes, from 0. The first one speaks for all of them. */
  readonly slot: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What callers without a key have used at all processes together. */
  readonly buckets: MinuteBuckets;
}

function start(slot: number, env: MemberOptions["env"]): ChildProcess {
  const [file = "", ...args] = program();
  return spawn(file, [...args, "serve"], {
    env: { ...env },
    // Only the first one prints the banner. All of them write to one log.
    stdio: ["ignore", slot === 0 ? "inherit" : "ignore", "inherit", "ipc"],
    serialization: "json",
  });
}

/** A serving process, as its supervisor holds it. */
export class Member {
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

  constructor(options: MemberOptions) {
    const { slot, env } = options;
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
      else this.#heard(said, options);
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

  #heard(said: Exclude<MemberMessage, { type: "ready" }>, { buckets }: MemberOptions) {
    switch (said.type) {
      case "take": {
        const taken = buckets.take(said.bucket, said.want);
        return this.#send({ type: "taken", id: said.id, taken });
      }
      case "metrics":
        return this.#metrics.answer(said.id, said.metrics);
    }
  }

  #send(message: SupervisorMessage): void {
    if (this.#child?.connected === true) this.#child.send(message);
  }
}
