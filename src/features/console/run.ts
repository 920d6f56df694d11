import { Command } from "commander";
import { writeFileSync } from "node:fs";
import { hostname, setPriority } from "node:os";
import type { Io } from "../../cli/io.ts";
import { messageOf } from "../../cli/errors.ts";
import { openServices, randomBytes } from "../../cli/open.ts";
import { beginOnStore } from "../../cli/command.ts";
import { readTls } from "../../cli/tls.ts";
import type { LoadedConfig } from "../../config.ts";
import { systemClock } from "../../domain/clock.ts";
import { AppError } from "../../domain/errors.ts";
import { reasonOf } from "../../domain/system-error.ts";
import { closing } from "../../service/closing.ts";
import type { Services } from "../../service/services.ts";
import type { Desk } from "./desk.ts";
import { openHealth } from "./health.ts";
import { animalDesk } from "./animals/desk.ts";
import { openImports } from "./import-engine.ts";
import { Line } from "./line.ts";
import { messageLine, type Begin, type FromConsole } from "./messages.ts";
import { PeopleService } from "./people.ts";
import { permit, reachableOrigin } from "./reach.ts";
import { consoleSetting, consoleUrlSetting } from "./settings.ts";
import { consoleHandler } from "./web/handler.ts";
import { listen, type ConsoleServer } from "./web/server.ts";

/** Below the interface's priority: where the processor is short, the console waits. */
const niceness = 5;
/** Short of memory, the system ends the console, not the API (proc(5), -1000 to 1000). */
const oomScoreAdjustment = "500";

/** `rehome __console`: the console's process, which the service starts and ends. */
export function consoleCommand(io: Io): Command {
  const command = new Command("__console").description("the console's process; serve starts it");
  return command.action(async () => {
    const say = (message: FromConsole) => io.out(messageLine(message));
    try {
      await run(beginOnStore(command, io), io, say);
    } catch (error) {
      const { kind, hint } =
        error instanceof AppError ? error : ({ kind: "internal_error", hint: undefined } as const);
      say({ type: "failed", kind, message: messageOf(error), hint });
    }
  });
}

async function run(
  loaded: LoadedConfig,
  io: Io,
  say: (message: FromConsole) => void,
): Promise<void> {
  const { config } = loaded;
  yieldToService();
  const log = (level: "info" | "warn" | "error") => (message: string) =>
    say({ type: "log", level, message });
  const report = (error: unknown) => log("error")(messageOf(error));
  await permit(loaded, log("warn"));
  const services = await openServices(config, io, { serving: false, onError: report });
  await closing(
    () => services.close(),
    async () => {
      const line = new Line(io, say);
      const desk = openDesk(loaded, services, line, io);
      await closing(
        () => desk.imports.close(),
        async () => {
          const { wantsFirstLink, port } = await line.begun;
          const server = start(loaded, desk, { port, report, warn: log("warn") });
          const url = loaded.valueOf(consoleUrlSetting) ?? reachableOrigin(server.url.origin);
          await desk.people.noteAddress(url);
          const firstLink =
            wantsFirstLink && (await desk.people.list()).length === 0
              ? await firstLinkAt(url, desk, io.actor)
              : undefined;
          // So that the first search is as quick as those that follow.
          desk.animals.prepare().catch(report);
          say({ type: "listening", url, port: Number(server.url.port), firstLink });
          await line.ended(() => {
            const tls = readTls(config);
            if (tls !== undefined) server.renew(tls);
          }, report);
          await server.stop();
        },
      );
    },
  );
}

/** Where the system does not allow it, as in some units, the console runs as the service does. */
function yieldToService(): void {
  for (const yielding of [
    () => setPriority(niceness),
    () => writeFileSync("/proc/self/oom_score_adj", oomScoreAdjustment),
  ]) {
    try {
      yielding();
    } catch {
      // It is a courtesy, and no more.
    }
  }
}

function openDesk(loaded: LoadedConfig, services: Services, line: Line, io: Io): Desk {
  const clock = systemClock;
  return {
    services,
    people: new PeopleService(services.store, clock, randomBytes),
    animals: animalDesk(services),
    imports: openImports(loaded.config, services),
    health: openHealth(loaded, io.env),
    clock,
    traffic: () => line.traffic(),
  };
}

async function firstLinkAt(url: string, { people }: Desk, actor: string): Promise<string> {
  const { token } = await people.invite(actor, "operator", actor);
  return `${url}/join/${token}`;
}

function start(
  loaded: LoadedConfig,
  desk: Desk,
  {
    port: former,
    report,
    warn,
  }: Pick<Begin, "port"> & {
    readonly report: (error: unknown) => void;
    readonly warn: (message: string) => void;
  },
): ConsoleServer {
  const { config } = loaded;
  const setting = loaded.valueOf(consoleSetting) ?? { host: "127.0.0.1", port: 0 };
  const { host } = setting;
  const port = setting.port === 0 ? (former ?? 0) : setting.port;
  const publicUrl = loaded.valueOf(consoleUrlSetting);
  const isBehindProxy = config.trustedProxy.length > 0;
  const tls = readTls(config);
  const machine = hostname().toLowerCase();
  const names = [host.toLowerCase(), machine, `${machine}.local`];
  if (publicUrl !== undefined) names.push(new URL(publicUrl).hostname);
  const handle = consoleHandler({
    desk,
    hosts: { names, isVouched: tls !== undefined || (isBehindProxy && publicUrl === undefined) },
    publicOrigin: publicUrl,
    isBehindProxy,
    report,
    warn,
  });
  try {
    const { reusePort, trustedProxy } = config;
    return listen({ host, port, reusePort, tls, trustedProxies: trustedProxy, handle });
  } catch (error) {
    throw new AppError(
      "unavailable",
      `Cannot listen for the console on ${host} port ${port}: ${reasonOf(error)}.`,
      { cause: error, hint: "Choose another address with --console." },
    );
  }
}
