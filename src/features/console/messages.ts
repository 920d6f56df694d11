import type { ErrorKind } from "../../domain/errors.ts";
import type { Traffic } from "../operate/traffic.ts";

/** How the service wants its console to begin. */
export interface Begin {
  readonly wantsFirstLink: boolean;
  /** The port that the console had before it died; undefined for the one of the setting. */
  readonly port?: number | undefined;
}

/**
 * What the service and its console tell each other: lines of JSON on the console's standard input
 * and output. The end of the console's input is the end of the service, whatever ended it, so that
 * no console is left behind.
 */
export type ToConsole =
  | { readonly type: "begin"; readonly begin: Begin }
  | { readonly type: "traffic"; readonly id: number; readonly traffic: Traffic }
  | { readonly type: "reload" };

export type FromConsole =
  | {
      readonly type: "listening";
      readonly url: string;
      readonly port: number;
      readonly firstLink: string | undefined;
    }
  | {
      readonly type: "failed";
      readonly kind: ErrorKind;
      readonly message: string;
      readonly hint: string | undefined;
    }
  | { readonly type: "log"; readonly level: "info" | "warn" | "error"; readonly message: string }
  | { readonly type: "traffic"; readonly id: number };

export function messageLine(message: ToConsole | FromConsole): string {
  return `${JSON.stringify(message)}\n`;
}

/** Reads messages from a stream of bytes until it ends. */
export async function* messages<T extends ToConsole | FromConsole>(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<T> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of bytes) {
    text += decoder.decode(chunk, { stream: true });
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line) as T;
  }
}
