import "./environment.ts";
import { actor } from "./cli/actor.ts";
import { ask } from "./cli/terminal/ask.ts";
import { run } from "./cli/program.ts";
import { processEnvironment } from "./config.ts";

// Whatever this process makes belongs to its user alone: databases, backups, folders.
process.umask(0o077);

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    // Asked twice, it does not wait for anybody.
    if (stop.signal.aborted) process.exit(1);
    stop.abort();
  });
}

process.exit(
  await run(process.argv.slice(2), {
    env: processEnvironment,
    isTerminal: process.stdout.isTTY,
    talkIsTerminal: process.stderr.isTTY,
    columns: process.stdout.columns || 80,
    canAsk: process.stdin.isTTY && process.stderr.isTTY,
    actor: actor(processEnvironment),
    out: (text) => void process.stdout.write(text),
    write: (text) =>
      new Promise((resolve, reject) => {
        process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
      }),
    input: () => Bun.stdin.stream(),
    ask: (question) => ask(question, stop.signal),
    err: (text) => void process.stderr.write(text),
    stop: stop.signal,
    onReload: (listener) => void process.on("SIGHUP", listener),
  }),
);
