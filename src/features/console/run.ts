import { Argument, type Command, Option } from "commander";
import { writeFileSync } from "node:fs";
import { hostname, setPriority } from "node:os";
import { announce, type Io, untilAborted } from "../../cli/io.ts";
import { json, printJson } from "../json.ts";
import { openLog } from "../../cli/serve.ts";
import { openServices, randomBytes } from "../../cli/open.ts";
import { refuseStray } from "../with-services.ts";
import { beginOnStore, commandOf } from "../command.ts";
import { addRetiredSettings } from "../../cli/command.ts";
import { addSettings, storeSettings } from "../options.ts";
import { renewCertificate, tlsOf } from "../../cli/tls.ts";
import type { LoadedConfig } from "../../config.ts";
import { systemClock } from "../../domain/clock.ts";
import { AppError } from "../../domain/errors.ts";
import { reasonOf } from "../../domain/system-error.ts";
import { listen } from "../../http/server.ts";
import { type Logger, MinuteCounts } from "../../service/log.ts";
import type { Services } from "../../service/services.ts";
import { childEnvironment } from "../schedule/child.ts";
import { AnimalActions } from "./animals.ts";
import { publicSetting } from "../public/index.ts";
import { Imports, inProcess, removeLeft, uploadsPlace } from "./imports.ts";
import { PeopleService } from "./people.ts";
import { exposureOf, permit, reachableOrigin } from "./reach.ts";
import {
  besideVariable,
  consoleSetting,
  consoleUrlSetting,
  defaultAddress,
  inviting,
} from "./index.ts";
import type { Actions, ConsoleOptions } from "./visit.ts";

/** Below the service's priority: where the processor is short, the console waits. */
const niceness = 5;
/** Short of memory, the system ends the console, not the service (proc(5), -1000 to 1000). */
const oomScoreAdjustment = "500";
const tidyMs = 1_000;
const stopMaxMs = 1_000;

const listeningSchema = json.object({
  url: json.text("address of the console"),
  port: json.count("port that it listens on"),
  firstLink: json.orNull(json.text("link for an operator, if nobody could use the console")),
});

interface Options {
  readonly json?: true;
  readonly firstLink?: true;
}

export function consoleCommand(io: Io): Command {
  const at = `address and port, or a port of this machine (default ${defaultAddress})`;
  const command = commandOf<[string]>({
    name: "console",
    about: "serve the staff's console, in a process of its own",
    arguments: [new Argument("[address]", at)],
    options: [
      new Option("--first-link", "print a link for an operator if nobody may use the console yet"),
    ],
    remark: "rehome serve --console ADDRESS starts it beside the service.",
    examples: [
      "rehome console",
      "rehome console 0.0.0.0:8090 --tls-cert server.crt --tls-key server.key",
    ],
    json: listeningSchema,
  });
  addSettings(command, [...storeSettings, "environment", "tlsCert", "tlsKey", "trustedProxy"]);
  addSettings(command, ["logFormat", "logLevel", consoleUrlSetting]);
  addRetiredSettings(command);
  return command.action(async (address: string | undefined, options: Options) => {
    const loaded = beginOnStore(command, io);
    const log = openLog(loaded, io);
    await using opened = new AsyncDisposableStack();
    opened.defer(() => log.close());
    await run(loaded, address, options, io, log);
  });
}

async function run(
  loaded: LoadedConfig,
  address: string | undefined,
  options: Options,
  io: Io,
  log: Logger,
): Promise<void> {
  const { config } = loaded;
  const at = addressOf(loaded, address);
  permit(config, at.host, (message) => log.warn(message));
  yieldToService();
  refuseStray(config, {});
  const onError = (error: unknown) => log.failure(error);
  const services = await openServices(config, io, { serving: false, onError });
  await using opened = new AsyncDisposableStack();
  opened.defer(() => services.close());
  const actions = await openActions(loaded, services, io, log);
  opened.defer(() => actions.imports.close());
  const server = await start(loaded, at, actions, log);
  const { stop, onReload } = io.hearSignals();
  onReload(() => void renewCertificate(config, server, log));
  const url = loaded.valueOf(consoleUrlSetting) ?? reachableOrigin(server.url.origin);
  await actions.people.noteAddress(url);
  const wantsLink = options.firstLink === true || io.isTerminal;
  const link = wantsLink ? await firstLink(url, actions.people, io.actor) : undefined;
  const tidying = setInterval(() => void tidy(actions).catch(onError), tidyMs);
  const { port } = server;
  if (options.json) printJson(io, { url, port, firstLink: link ?? null });
  else {
    const lines = [`Console ${url}`, ...(link === undefined ? [] : inviting(link))];
    void announce(io, `${lines.join("\n")}\n`);
  }
  await Promise.race([untilAborted(stop), untilServiceEnds(io)]);
  clearInterval(tidying);
  await server.stop(stopMaxMs);
}

/** Ends what people have here who were removed, by a command or another console. */
async function tidy({ imports, people }: Actions): Promise<void> {
  if (imports.people.size === 0) return;
  await imports.tidy(new Set((await people.list()).map(({ id }) => id)));
}

function addressOf(loaded: LoadedConfig, given: string | undefined) {
  const text = given ?? defaultAddress;
  const set = given === undefined ? loaded.valueOf(consoleSetting) : undefined;
  const address = set ?? consoleSetting.parse(text);
  if (address !== undefined) return address;
  throw new AppError("invalid_request", `The address ${consoleSetting.rule}, not ${text}.`);
}

/** Where the system does not allow it, as in some units, the console runs as the service does. */
function yieldToService(): void {
  for (const yielding of [
    () => setPriority(niceness),
    () => writeFileSync("/proc/self/oom_score_adj", oomScoreAdjustment),
  ]) {
    try {
      yielding();
    } catch {}
  }
}

/** Resolves at the end of the service that this console was started beside. */
async function untilServiceEnds(io: Io): Promise<void> {
  if (io.env[besideVariable] === undefined) return new Promise(() => undefined);
  for await (const _ of io.input());
}

async function openActions(
  loaded: LoadedConfig,
  services: Services,
  io: Io,
  log: Logger,
): Promise<Actions> {
  const [{ marksOf, openHealth }, { sourceActions }] = await Promise.all([
    import("./pages/health.ts"),
    import("./pages/sources.ts"),
  ]);
  const env = childEnvironment(loaded, io.env);
  const sources = sourceActions(services, env);
  const health = openHealth(env);
  const place = uploadsPlace(loaded.config);
  removeLeft(place, systemClock());
  return {
    services,
    people: new PeopleService(services.store.db, systemClock, randomBytes),
    animals: new AnimalActions(services),
    imports: new Imports(
      place,
      inProcess(env, (problem) => log.error(problem)),
      systemClock,
    ),
    sources,
    health,
    marks: marksOf(services, { sources, health }),
    publicPage: publicPageOf(loaded),
    clock: systemClock,
  };
}

function publicPageOf({ config, valueOf }: LoadedConfig): Actions["publicPage"] {
  if (valueOf(publicSetting) === "off") return undefined;
  const { baseUrl, port } = config;
  return { url: baseUrl && `${baseUrl.replace(/\/v1$/, "")}/animals`, port };
}

async function firstLink(
  url: string,
  people: PeopleService,
  actor: string,
): Promise<string | undefined> {
  if ((await people.list()).length > 0) return undefined;
  const { token } = await people.invite(actor, "operator", actor);
  return `${url}/join/${token}`;
}

async function start(
  loaded: LoadedConfig,
  { host, port }: { readonly host: string; readonly port: number },
  actions: Actions,
  log: Logger,
) {
  const { consoleHandler } = await import("./app.ts");
  const { trustedProxy } = loaded.config;
  const publicUrl = loaded.valueOf(consoleUrlSetting);
  const tls = await tlsOf(loaded.config);
  const machine = hostname().toLowerCase();
  const names = [host.toLowerCase(), machine, `${machine}.local`];
  if (publicUrl !== undefined) names.push(new URL(publicUrl).hostname);
  const handler = consoleHandler({
    actions,
    names,
    publicOrigin: publicUrl,
    isTls: tls !== undefined,
    trustedProxies: trustedProxy,
    report: (error) => log.failure(error),
    refused: refusalLog(log),
  });
  try {
    return listen(handler, { host, port, reusePort: false, tls });
  } catch (error) {
    // For a name that leads nowhere, Bun reports any code.
    const isName = exposureOf(host) === undefined;
    const why = isName ? "the port is taken, or there is no such host here" : reasonOf(error);
    throw new AppError(
      "unavailable",
      `Cannot listen for the console on ${host} port ${port}: ${why}.`,
      { cause: error, hint: "Choose another address with --console." },
    );
  }
}

export function refusalLog(log: Logger): ConsoleOptions["refused"] {
  const counts = new MinuteCounts(log, "warn");
  return (message) => {
    if (log.isOn("warn") && counts.count("refused") === 1) log.warn(message);
  };
}
