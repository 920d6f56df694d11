import { createInterface } from "node:readline";

/** Asks on standard error and reads one line of standard input; "" at its end or after `stop`. */
export function ask(question: string, stop: AbortSignal): Promise<string> {
  // Not as a terminal: the line discipline edits the line, and Ctrl-C stays a signal.
  const lines = createInterface({ input: process.stdin, terminal: false });
  process.stderr.write(question);
  return new Promise((resolve) => {
    let isOver = false;
    const finish = (answer?: string) => {
      if (isOver) return;
      // Before the close, which is an end of the input too.
      isOver = true;
      lines.close();
      // Nobody ended the line of the question.
      if (answer === undefined) process.stderr.write("\n");
      resolve(answer ?? "");
    };
    lines.once("line", finish);
    lines.once("close", () => finish());
    stop.addEventListener("abort", () => finish(), { once: true });
  });
}
