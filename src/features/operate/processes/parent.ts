/** A serving process and its supervisor, as the process sees them, and what they say. */
import { isMember } from "../../../cli/io.ts";
import type { EnvironmentVariables } from "../../../config.ts";
import type { ServerHooks } from "../../../feature.ts";

/** Of the messages: an upgrade replaces the processes, and the supervisor stays an older one. */
export const protocol = 1;

export type MemberMessage =
  | { readonly type: "ready"; readonly port: number }
  | { readonly type: "metrics"; readonly metrics: readonly object[] };

export type SupervisorMessage =
  | { readonly type: "metrics" }
  /** With `drainMs` another process has its place: it ends with its connections, or after that. */
  | { readonly type: "stop"; readonly drainMs?: number };

/** A message as it is sent. One of another protocol is not understood, and says so. */
export type Sent<Message> = Message & { readonly protocol: number };

/** What one of several processes does with its supervisor. */
interface ParentHooks extends ServerHooks {
  /** Answers the supervisor's questions with what `metrics` returns. */
  answer(metrics: () => Promise<readonly object[]>): void;
}

/**
 * Listens to the supervisor of this process. Returns undefined for one that was started alone, also
 * by a parent that has a channel for purposes of its own, such as PM2.
 */
export function hooksForParent(
  env: EnvironmentVariables,
  stop: (drainMs?: number) => void,
): ParentHooks | undefined {
  if (!isMember(env) || process.send === undefined) return undefined;
  let metricsOf: () => Promise<readonly object[]> = async () => [];
  const answerMetrics = async () => {
    // The supervisor waits for what the others say, too.
    send({ type: "metrics", metrics: await metricsOf().catch(() => []) });
  };
  process.on("message", (message: Sent<SupervisorMessage>) => {
    if (message.protocol !== protocol) return;
    if (message.type === "stop") stop(message.drainMs);
    else void answerMetrics();
  });
  // Processes end with their supervisor: nothing else would replace or stop them.
  process.on("disconnect", () => stop());
  return {
    onReady: (port) => send({ type: "ready", port }),
    answer: (metrics) => void (metricsOf = metrics),
  };
}

function send(message: MemberMessage): void {
  process.send?.({ ...message, protocol } satisfies Sent<MemberMessage>);
}
