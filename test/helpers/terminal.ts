/** Drives the compiled executable at a pseudo terminal, as a person would. */
import { tmpdir } from "node:os";
import { cleanEnvironment, executable } from "./binary.ts";
import { onStoreUnderTest } from "./store-under-test.ts";

/**
 * Runs a command at a terminal. Types the answers to the questions on the screen, once. The screen
 * is all that the terminal was sent, line ends as \n; what is typed is echoed there too.
 */
export async function rehomeAtTerminal(
  args: readonly string[],
  options: {
    env?: Record<string, string>;
    columns?: number;
    answers?: readonly (readonly [question: string, keys: string])[];
  } = {},
) {
  const decoder = new TextDecoder();
  const waiting = [...(options.answers ?? [])];
  let screen = "";
  const named = await onStoreUnderTest(args, options.env);
  const child = Bun.spawn([await executable(), ...named.args], {
    cwd: tmpdir(),
    env: { ...cleanEnvironment, TERM: "xterm-256color", ...named.env },
    terminal: {
      cols: options.columns ?? 80,
      rows: 40,
      data(terminal, bytes) {
        screen += decoder.decode(bytes, { stream: true }).replaceAll("\r\n", "\n");
        const [next] = waiting;
        if (next === undefined || !screen.includes(next[0])) return;
        waiting.shift();
        terminal.write(next[1]);
      },
    },
  });
  const exitCode = await child.exited;
  child.terminal?.close();
  return { exitCode, screen };
}
