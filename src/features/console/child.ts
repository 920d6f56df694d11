import { AppError } from "../../domain/errors.ts";
import type { EnvironmentVariables } from "../../config.ts";
import type { Logger } from "../../service/log/logger.ts";
import type { Awaitable } from "../../storage/contract.ts";
import { messageLine, messages, type FromConsole, type ToConsole } from "./messages.ts";
import type { Traffic } from "../operate/traffic.ts";

/** A console that dies is restarted after this long, then after twice as long each time. */
const restartMs = { first: 1_000, longest: 60_000 } as const;
/** How long a console may take to end after it was asked to. */
const stopMaxMs = 3_000;

interface ChildOptions {
  /** The program and the words that start the console. */
  readonly command: readonly string[];
  readonly env: EnvironmentVariables;
  readonly log: Logger;
  readonly traffic: () => Awaitable<Traffic>;
}

interface Listening {
  readonly url: string;
  readonly port: number;
  readonly firstLink: string | undefined;
}

/** The console as a separate process: nothing there takes time or memory from the API. */
export class ConsoleProcess {
  readonly #options: ChildOptions;
  #child: ReturnType<typeof start> | undefined;
  #isStopping = false;
  #restartMs: number = restartMs.first;
  /** The port that it had: people have its address open. */
  #port: number | undefined;

  constructor(options: ChildOptions) {
    this.#options = options;
  }

  /** Starts it and resolves once it listens. Throws AppError when it cannot. */
  async start(wantsFirstLink: boolean): Promise<Listening> {
    const child = start(this.#options);
    this.#child = child;
    this.#tell({ type: "begin", begin: { wantsFirstLink, port: this.#port } });
    const { promise, resolve, reject } = Promise.withResolvers<Listening>();
    const heard = this.#listen(child, resolve, reject);
    void child.exited.then(async (code) => {
      await heard;
      return reject(
        new AppError("unavailable", `The console ended with code ${code} as it started.`),
      );
    });
    const listening = await promise;
    this.#port = listening.port;
    void child.exited.then((code) => this.#ended(code));
    return listening;
  }

  /** Tells it to reload its certificate. */
  reload(): void {
    this.#tell({ type: "reload" });
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    const child = this.#child;
    if (child === undefined) return;
    await child.stdin.end();
    const late = Bun.sleep(stopMaxMs).then(() => child.kill("SIGKILL"));
    await Promise.race([child.exited, late]);
    await child.exited;
  }

  #tell(message: ToConsole): void {
    const stdin = this.#child?.stdin;
    if (stdin === undefined || this.#child?.exitCode !== null) return;
    void stdin.write(messageLine(message));
    void stdin.flush();
  }

  async #listen(
    child: ReturnType<typeof start>,
    listens: (listening: Listening) => void,
    failed: (error: AppError) => void,
  ): Promise<void> {
    const { log, traffic } = this.#options;
    for await (const message of messages<FromConsole>(child.stdout)) {
      if (message.type === "listening") listens(message);
      else if (message.type === "log") log[message.level](message.message);
      else if (message.type === "traffic") {
        const { id } = message;
        void Promise.try(traffic).then((each) =>
          this.#tell({ type: "traffic", id, traffic: each }),
        );
      } else {
        const { kind, message: text, hint } = message;
        failed(new AppError(kind, text, hint === undefined ? {} : { hint }));
      }
    }
  }

  /** What ends by itself is started again; what was asked to end, as by Ctrl-C, is not. */
  #ended(code: number): void {
    if (this.#isStopping || code === 0) return;
    const waitMs = this.#restartMs;
    this.#restartMs = Math.min(waitMs * 2, restartMs.longest);
    this.#options.log.error(`The console ended with code ${code}; it is restarted.`);
    setTimeout(() => void this.#restart(), waitMs).unref();
  }

  async #restart(): Promise<void> {
    if (this.#isStopping) return;
    try {
      await this.start(false);
      this.#restartMs = restartMs.first;
    } catch (error) {
      this.#options.log.failure(error);
      // Somebody else may have taken it by now.
      this.#port = undefined;
      this.#ended(1);
    }
  }
}

function start({ command, env }: ChildOptions) {
  return Bun.spawn([...command], {
    env,
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
}
