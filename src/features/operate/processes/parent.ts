import type { EnvironmentVariables } from "../../../config.ts";
import type { Taken } from "../../../service/anonymous.ts";
import { otherWarnsVariable, type MemberMessage, type SupervisorMessage } from "./messages.ts";
import { Questions } from "./questions.ts";
import type { TakeShared } from "./shared-addresses.ts";

/** The supervisor that started this process. */
export interface Parent {
  /** Says that this process serves on `port`. */
  readonly ready: (url: URL, port: number) => void;
  /** Answers the supervisor's questions with what `metrics` returns. */
  readonly answer: (metrics: () => Promise<readonly object[]>) => void;
  readonly takeShared: TakeShared;
  readonly otherWarns: boolean;
  /** Aborted when the supervisor asks this process to stop, or ends. */
  readonly stop: AbortSignal;
}

let parent: Parent | undefined;

/** Returns the supervisor of this process, or undefined when it was started alone. */
export function parentOf(env: EnvironmentVariables): Parent | undefined {
  if (process.send === undefined) return undefined;
  return (parent ??= listenToParent(env));
}

function listenToParent(env: EnvironmentVariables): Parent {
  let metricsOf: () => Promise<readonly object[]> = async () => [];
  const takes = new Questions<Taken>();
  const answerMetrics = async (id: number) => {
    send({ type: "metrics", id, metrics: await metricsOf() });
  };
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  process.on("message", (message: SupervisorMessage) => {
    if (message.type === "stop") stop();
    else if (message.type === "metrics") void answerMetrics(message.id);
    else takes.answer(message.id, message.taken);
  });
  // Processes end with their supervisor: nothing else would replace or stop them.
  process.on("disconnect", stop);
  return {
    stop: stopping.signal,
    otherWarns: env[otherWarnsVariable] !== undefined,
    ready: (_, port) => send({ type: "ready", port }),
    answer(metrics) {
      metricsOf = metrics;
    },
    takeShared: (bucket, want) => takes.ask((id) => send({ type: "take", id, bucket, want })),
  };
}

function send(message: MemberMessage): void {
  process.send?.(message);
}
