import { features } from "../../src/features/index.ts";
import type { Io } from "../../src/cli/io.ts";

/** An outside whose two streams are kept as text. */
interface TestIo extends Io {
  readonly printed: () => string;
  readonly said: () => string;
}

/** The outside of a command without a terminal, unless `options` say otherwise. */
export function testIo(options: Partial<Io> = {}): TestIo {
  let printed = "";
  let said = "";
  return {
    features,
    env: {},
    isTerminal: false,
    stderrIsTTY: false,
    columns: 80,
    canAsk: false,
    actor: "kim",
    machine: {
      uid: 1000,
      service: () => undefined,
      isContainer: false,
      program: "rehome",
      hasProgram: () => true,
    },
    out: (text) => void (printed += text),
    write: async (text) => void (printed += text),
    async *input() {},
    ask: async () => "",
    err: (text) => void (said += text),
    draw: (text) => void (said += text),
    hearSignals: () => ({ stop: new AbortController().signal, onReload: () => undefined }),
    ...options,
    printed: () => printed,
    said: () => said,
  };
}
