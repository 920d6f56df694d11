import type { ServerHooks } from "../../feature.ts";
import { type Io, joins } from "../../cli/io.ts";
import { isEveryAddress } from "../../domain/address.ts";
import { dataFolderOf, type EnvironmentVariables, type LoadedConfig } from "../../config.ts";
import { AppError } from "../../domain/errors.ts";
import type { Logger } from "../../service/log.ts";
import { inMemory } from "../../storage/sqlite/files.ts";
import { childEnvironment, program } from "../schedule/child.ts";
import type { ListenAddress } from "../operate/settings.ts";
import { restartPause } from "../operate/restart-pause.ts";
import { permit } from "./reach.ts";
import { besideVariable, inviting } from "./index.ts";

const stopMaxMs = 3_000;
const laterMs = 1_000;

export async function watchWithConsole(
  loaded: LoadedConfig,
  address: ListenAddress,
  log: Logger,
  io: Io,
): Promise<ServerHooks> {
  const { config } = loaded;
  if (dataFolderOf(config) === inMemory) {
    throw new AppError(
      "invalid_request",
      "The console is a separate process, and cannot use a catalogue in memory.",
      { hint: "Name a folder with --data." },
    );
  }
  refuseOwnPort(loaded, address);
  // The console itself warns.
  permit(config, address.host, () => undefined);
  const env = { ...childEnvironment(loaded, io.env), [besideVariable]: "1" };
  const child = new ConsoleProcess(env, address, log);
  return {
    async onStart() {
      if (joins(io.env)) return child.startLater();
      const { url, firstLink } = await child.start(io.isTerminal ? ["--first-link"] : []);
      io.hearSignals().onReload(() => child.reload());
      return { title: "Console", url, more: firstLink === null ? [] : inviting(firstLink) };
    },
    onStop: () => child.stop(),
  };
}

/** With --processes, the system would give connections to one or the other. */
function refuseOwnPort({ config }: LoadedConfig, { host, port }: ListenAddress): void {
  if (port === 0 || port !== config.port) return;
  if (host !== config.host && ![host, config.host].some(isEveryAddress)) return;
  throw new AppError(
    "invalid_request",
    `The console and the service cannot both listen on ${host} port ${port}.`,
    { hint: "Choose another address with --console." },
  );
}

interface Begun {
  readonly url: string;
  readonly port: number;
  readonly firstLink: string | null;
}

/** The console as a process of its own: nothing there takes time or memory from the service. */
class ConsoleProcess {
  #child: ReturnType<typeof spawn> | undefined;
  #isStopping = false;
  readonly #pause = restartPause(1_000, 60_000);
  #startedMs = 0;

  /** `address` gets the port that it had before it died: people have that open. */
  constructor(
    private readonly env: EnvironmentVariables,
    private address: ListenAddress,
    private readonly log: Logger,
  ) {}

  async start(flags: readonly string[]): Promise<Begun> {
    const child = spawn(this.address, flags, this.env);
    this.#child = child;
    this.#startedMs = performance.now();
    const begun = await firstDocument<Begun>(child.stdout);
    if (begun === undefined) {
      await child.exited;
      throw new AppError("unavailable", "The console did not start; its own message says why.", {
        hint: "Choose another address with --console.",
      });
    }
    this.address = { ...this.address, port: begun.port };
    void child.exited.then((code) => this.#ended(code));
    return begun;
  }

  /** Starts it when the console of the process that was replaced has freed the address. */
  startLater(): undefined {
    setTimeout(() => void this.#restart(), laterMs).unref();
    return undefined;
  }

  reload(): void {
    this.#child?.kill("SIGHUP");
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    const child = this.#child;
    if (child === undefined) return;
    await child.stdin.end();
    const late = setTimeout(() => child.kill("SIGKILL"), stopMaxMs);
    await child.exited;
    clearTimeout(late);
  }

  /** What ends by itself is started again; what was asked to end, as by Ctrl-C, is not. */
  #ended(code: number): void {
    if (this.#isStopping || code === 0) return;
    const waitMs = this.#pause(performance.now() - this.#startedMs);
    this.log.error(`The console ended with code ${code}. It starts again in ${waitMs / 1_000} s.`);
    setTimeout(() => void this.#restart(), waitMs).unref();
  }

  async #restart(): Promise<void> {
    if (this.#isStopping) return;
    try {
      await this.start([]);
    } catch (error) {
      this.log.failure(error);
      this.#ended(1);
    }
  }
}

function spawn({ host, port }: ListenAddress, flags: readonly string[], env: EnvironmentVariables) {
  const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  return Bun.spawn([...program(), "console", address, "--json", ...flags], {
    env: { ...env },
    // Its end is the end of the service, whatever ended that: no console is left behind.
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
}

async function firstDocument<T>(bytes: AsyncIterable<Uint8Array>): Promise<T | undefined> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of bytes) {
    text += decoder.decode(chunk, { stream: true });
    if (text.endsWith("}\n")) return JSON.parse(text) as T;
  }
  return undefined;
}
