import "./environment.ts";
import { features } from "./features/index.ts";
import { givenArguments } from "./arguments.ts";
import { actorOf, untilAborted } from "./cli/io.ts";
import { machineOf } from "./cli/machine.ts";
import { Output } from "./cli/output.ts";
import { run } from "./cli/program.ts";
import { hearSignals } from "./cli/signals.ts";
import { processEnvironment as env } from "./config.ts";

// Whatever this process makes belongs to its user alone: databases, backups, folders.
process.umask(0o077);

// Asked twice, it does not wait for anybody.
const { stop, onReload } = hearSignals(() => process.exit(1));
const output = new Output();
const exitCode = await run(givenArguments(), {
  features,
  env,
  // All of these are opened where they are wanted.
  get isTerminal() {
    return output.stdout.isTTY;
  },
  get talkIsTerminal() {
    return process.stderr.isTTY;
  },
  get columns() {
    return output.stdout.columns || 80;
  },
  get canAsk() {
    return process.stdin.isTTY && process.stderr.isTTY;
  },
  actor: actorOf(env, process.getuid?.()),
  machine: machineOf(features, env),
  out: (text) => output.out(text),
  write: (text) => output.write(text),
  err: (text) => output.err(text),
  input: () => Bun.stdin.stream(),
  async ask(question) {
    // Loaded where it is wanted, for the same reason.
    const { ask } = await import("./cli/terminal/ask.ts");
    return ask(question, stop);
  },
  stop,
  onReload,
});
process.exit(await output.end(exitCode, untilAborted(stop)));
