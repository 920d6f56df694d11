import "./environment.ts";
import { userInfo } from "node:os";
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
    actor: processEnvironment["SUDO_USER"] ?? userInfo().username,
    out: (text) => void process.stdout.write(text),
    write: (text) =>
      new Promise((resolve, reject) => {
        process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
      }),
    input: () => Bun.stdin.stream(),
    err: (text) => void process.stderr.write(text),
    stop: stop.signal,
  }),
);
