import type { Taken } from "../../../service/anonymous.ts";
import type { MemberMessage, SupervisorMessage } from "./messages.ts";
import type { TakeShared } from "./shared-addresses.ts";

/** The supervisor that started this process. */
export interface Parent {
  /** Says that this process serves on `port`. */
  readonly ready: (url: URL, port: number) => void;
  /** Answers the supervisor's questions with what `metrics` returns. */
  readonly answer: (metrics: () => Promise<readonly object[]>) => void;
  readonly takeShared: TakeShared;
  /** Aborted when the supervisor asks this process to stop, or ends. */
  readonly stop: AbortSignal;
}

/** Returns the supervisor of this process, or undefined when it was started alone. */
export function parentOf(): Parent | undefined {
  if (process.send === undefined) return undefined;
  const send = (message: MemberMessage) => void process.send?.(message);
  let metricsOf: () => Promise<readonly object[]> = async () => [];
  const takes = new Map<number, (taken: Taken) => void>();
  let lastId = 0;
  const answerMetrics = async (id: number) => {
    send({ type: "metrics", id, metrics: await metricsOf() });
  };
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  process.on("message", (message: SupervisorMessage) => {
    if (message.type === "stop") return stop();
    if (message.type === "metrics") {
      void answerMetrics(message.id);
      return undefined;
    }
    takes.get(message.id)?.(message.taken);
    takes.delete(message.id);
    return undefined;
  });
  // Processes end with their supervisor: nothing else would replace or stop them.
  process.on("disconnect", stop);
  return {
    stop: stopping.signal,
    ready: (_, port) => send({ type: "ready", port }),
    answer(metrics) {
      metricsOf = metrics;
    },
    takeShared(bucket, want) {
      const { promise, resolve } = Promise.withResolvers<Taken>();
      lastId += 1;
      takes.set(lastId, resolve);
      send({ type: "take", id: lastId, bucket, want });
      return promise;
    },
  };
}
