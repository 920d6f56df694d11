/** A serving process and its supervisor, as the process sees them, and what they say. */
import { systemClock } from "../../../domain/clock.ts";
import type { Config, EnvironmentVariables } from "../../../config.ts";
import type { Watcher } from "../../../feature.ts";
import { AddressLimiter, type Granted } from "../../../service/anonymous.ts";

/** Set in the environment of every serving process but the first one, which warns for all. */
export const otherWarnsVariable = "SUPERVISOR_WARNED_BY_OTHER";

export type MemberMessage =
  | { readonly type: "ready"; readonly port: number }
  /** It wants requests for callers without a key. */
  | {
      readonly type: "reserve";
      readonly id: number;
      readonly bucket: string;
      readonly want: number;
    }
  | { readonly type: "metrics"; readonly id: number; readonly metrics: readonly object[] };

export type SupervisorMessage =
  | { readonly type: "reserved"; readonly id: number; readonly granted: Granted }
  | { readonly type: "metrics"; readonly id: number }
  | { readonly type: "stop" };

/** What one of several processes does with its supervisor. */
interface ParentWatcher extends Watcher {
  /** Answers the supervisor's questions with what `metrics` returns. */
  answer(metrics: () => Promise<readonly object[]>): void;
}

/** Listens to the supervisor of this process. Returns undefined for one that was started alone. */
export function watchForParent(
  { anonymousPerMinute }: Config,
  env: EnvironmentVariables,
): ParentWatcher | undefined {
  if (process.send === undefined) return undefined;
  let metricsOf: () => Promise<readonly object[]> = async () => [];
  const reservations = new Questions<Granted>();
  const answerMetrics = async (id: number) => {
    // The supervisor waits for what the others say, too.
    send({ type: "metrics", id, metrics: await metricsOf().catch(() => []) });
  };
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  process.on("message", (message: SupervisorMessage) => {
    if (message.type === "stop") stop();
    else if (message.type === "metrics") void answerMetrics(message.id);
    else reservations.answer(message.id, message.granted);
  });
  // Processes end with their supervisor: nothing else would replace or stop them.
  process.on("disconnect", stop);
  return {
    stop: stopping.signal,
    otherWarns: env[otherWarnsVariable] !== undefined,
    started: (port) => send({ type: "ready", port }),
    answer: (metrics) => void (metricsOf = metrics),
    // Addresses without a key are counted by all processes together.
    addresses: new AddressLimiter(systemClock, anonymousPerMinute, (bucket, want) =>
      reservations.ask((id) => send({ type: "reserve", id, bucket, want })),
    ),
    close: async () => undefined,
  };
}

function send(message: MemberMessage): void {
  process.send?.(message);
}

/** Questions of one kind to another process, until they are answered. */
export class Questions<T> {
  readonly #open = new Map<number, (answer: T) => void>();
  #lastId = 0;

  /** Asks with `send`, which is given the question's id, and resolves with the answer. */
  ask(send: (id: number) => void): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<T>();
    this.#lastId += 1;
    this.#open.set(this.#lastId, resolve);
    send(this.#lastId);
    return promise;
  }

  answer(id: number, answer: T): void {
    this.#open.get(id)?.(answer);
    this.#open.delete(id);
  }

  /** Gives every open question the same answer. */
  answerAll(answer: T): void {
    for (const id of this.#open.keys()) this.answer(id, answer);
  }
}
