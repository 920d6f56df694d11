import type { Watcher } from "../../feature.ts";
import type { Io } from "../../cli/io.ts";
import {
  dataFolderOf,
  settings,
  variableOf,
  type EnvironmentVariables,
  type LoadedConfig,
} from "../../config.ts";
import { systemClock } from "../../domain/clock.ts";
import { AppError } from "../../domain/errors.ts";
import type { Logger } from "../../service/log/logger.ts";
import { inMemory } from "../../storage/sqlite/files.ts";
import { parentOf } from "../operate/processes/parent.ts";
import { TrafficMeter } from "../operate/traffic.ts";
import { isEveryAddress } from "../../cli/reach.ts";
import { consoleSetting } from "./settings.ts";
import { ConsoleProcess } from "./child.ts";
import { program } from "../program.ts";

/** Starts the console beside the service, and tells it what the service does. */
export function watchWithConsole(loaded: LoadedConfig, log: Logger, io: Io): Watcher {
  const { config } = loaded;
  if (dataFolderOf(config) === inMemory) {
    throw new AppError(
      "invalid_request",
      "The console is a separate process, and cannot use a catalogue in memory.",
      { hint: "Name a folder with --data." },
    );
  }
  refuseOwnPort(loaded);
  // Of several processes, the supervisor counts what all of them answer.
  const ofAll = parentOf(io.env)?.traffic;
  const meter = new TrafficMeter(systemClock);
  const child = new ConsoleProcess({
    command: [...program(), "__console"],
    env: environmentOf(loaded, io.env),
    log,
    traffic: ofAll ?? (() => meter.lastHour()),
  });
  return {
    ...(ofAll === undefined && { requests: meter }),
    async listen() {
      const { url, firstLink } = await child.start(io.isTerminal);
      io.hearSignals().onReload(() => child.reload());
      return { title: "Console", url, more: firstLink === undefined ? [] : inviting(firstLink) };
    },
    close: () => child.stop(),
  };
}

/**
 * Throws when the console would listen where the service does. With --reuse-port, and so with
 * --processes, the system would give connections to one or the other.
 */
function refuseOwnPort({ config, valueOf }: LoadedConfig): void {
  const { host, port } = valueOf(consoleSetting) ?? { host: "", port: 0 };
  if (port === 0 || port !== config.port) return;
  if (host !== config.host && ![host, config.host].some(isEveryAddress)) return;
  throw new AppError(
    "invalid_request",
    `The console and the service cannot both listen on ${host} port ${port}.`,
    { hint: "Choose another address with --console." },
  );
}

function inviting(link: string): string[] {
  const why = "Nobody may use the console yet. Your own link works once, within 7 days:";
  return ["", why, `  ${link}`, ""];
}

/**
 * The environment of the console: every setting as the service has it, wherever that came from, in
 * variables and not in arguments, as an address of a database holds a password.
 */
function environmentOf({ all, config }: LoadedConfig, env: EnvironmentVariables) {
  const variables = new Set(all.map(({ setting }) => variableOf(setting)));
  // The channel to this process's own parent is not the console's.
  const others = Object.entries(env).filter(
    ([name]) => !variables.has(name) && !name.startsWith("NODE_CHANNEL_"),
  );
  const given = all.flatMap(({ setting, text, value }) =>
    text === undefined || value === undefined ? [] : [[variableOf(setting), text] as const],
  );
  const data = dataFolderOf(config);
  return {
    ...Object.fromEntries([...others, ...given]),
    ...(data !== undefined && { [variableOf(settings.data)]: data }),
  };
}
