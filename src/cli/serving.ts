import type { Listening, ServerHooks } from "../feature.ts";
import { dataFolderOf, settings, type Config, type LoadedConfig } from "../config.ts";
import { parseAddress, localHost } from "../domain/address.ts";
import { AppError } from "../domain/errors.ts";
import { reasonOf } from "../domain/system-error.ts";
import type { FeatureRoutes } from "../http/app.ts";
import { listen, type RunningServer, type Tls } from "../http/server.ts";
import type { IssuedKey } from "../service/keys.ts";
import type { Logger } from "../service/log.ts";
import type { Services } from "../service/services.ts";
import { inMemory } from "../storage/sqlite/files.ts";
import { version } from "../version.ts";
import { commandHere, toMakeKey } from "./command.ts";
import { announce, type Io, untilAborted, writeSecret, isMember, warns } from "./io.ts";
import { renewCertificate, tlsOf } from "./tls.ts";
import { openLog, startWarnings } from "./serve.ts";
import { openServices } from "./open.ts";
import { counted, limitsText } from "./terminal/text.ts";

export async function serve(loaded: LoadedConfig, io: Io): Promise<void> {
  const log = openLog(loaded, io);
  // From here on a signal ends the service in order.
  io.hearSignals();
  try {
    await run(loaded, io, log);
    log.info("Stopped: counters saved, database closed.");
  } finally {
    await log.close();
  }
}

async function run(loaded: LoadedConfig, io: Io, log: Logger): Promise<void> {
  const { config } = loaded;
  const report = (error: unknown) => log.failureOfMany(error);
  const tls = await tlsOf(config);
  const { end, stop } = endingAt(io.hearSignals().stop);
  const made = await Promise.all(
    io.features.map(async ({ hooks }) => hooks?.({ loaded, log, io, stop })),
  );
  const hooks = made.filter((each) => each !== undefined);
  const store = hooks.find((each) => each.store !== undefined)?.store;
  const services = await openServices(config, io, {
    serving: true,
    onError: report,
    observer: store,
  });
  await using opened = new AsyncDisposableStack();
  opened.defer(() => services.close());
  const stopHooks = stopOnce(hooks);
  opened.defer(stopHooks);
  const { createService, pages, ...ofFeatures } = await loadWeb(loaded, io);
  const { handler } = createService({
    services,
    log,
    onResponse: hooks.flatMap(({ onResponse }) => onResponse ?? []),
    report,
    ...ofFeatures,
    isHttps: tls !== undefined,
    baseUrl: config.baseUrl,
    stagingBaseUrl: config.stagingBaseUrl,
    corsOrigins: config.corsOrigin,
    trustedProxies: config.trustedProxy,
    // Request ids of this process, apart from other processes'.
    requestIdPrefix: crypto.randomUUID().slice(0, 8),
  });
  const listening: Listening[] = [];
  for (const each of hooks)
    listening.push(...[(await each.onStart?.(services.store.db)) ?? []].flat());
  await services.store.started;
  const server = start(config, io, tls, handler);
  if (tls !== undefined)
    io.hearSignals().onReload(() => void renewCertificate(config, server, log));
  await tellStart(loaded, services, server.url, io, { pages, listening });
  for (const each of hooks) each.onReady?.(server.port);
  if (warns(io.env)) for (const warning of startWarnings(loaded)) log.warn(warning);
  setTimeout(() => {
    Bun.gc(true);
    Bun.shrink();
  }, settledMs);
  await end(server, stopHooks, { log, timeoutMs: config.shutdownTimeoutSeconds * 1000 });
}

/** How a server ends: at a signal, or by a feature, at once or when another has its place. */
function endingAt(signal: AbortSignal) {
  const stopping = new AbortController();
  const asked = Promise.withResolvers<number>();
  const stopped = AbortSignal.any([signal, stopping.signal]);
  void untilAborted(stopped).then(() => asked.resolve(0));
  return {
    stop(drainMs = 0): void {
      if (drainMs > 0) asked.resolve(drainMs);
      else stopping.abort();
    },
    /** Resolves when the server was asked to end, and has. */
    async end(
      server: RunningServer,
      stopHooks: () => Promise<void>,
      { log, timeoutMs }: { readonly log: Logger; readonly timeoutMs: number },
    ): Promise<void> {
      const drainMs = await asked.promise;
      if (drainMs > 0) {
        log.info("Replaced: kept connections end with their next response.");
        server.drain();
        await Promise.all([stopHooks(), Promise.race([Bun.sleep(drainMs), untilAborted(stopped)])]);
      }
      log.info("Stopping: running requests finish first.");
      await Promise.all([stopHooks(), server.stop(timeoutMs)]);
    },
  };
}

/** Stops what features do: once, however often it is asked for. */
function stopOnce(hooks: readonly ServerHooks[]): () => Promise<void> {
  let stopped: Promise<unknown> | undefined;
  return async () => {
    stopped ??= Promise.all(hooks.map(async (each) => each.onStop?.()));
    await stopped;
  };
}

/** Loads the web framework and all routes, while the thread of an opened store starts. */
async function loadWeb({ valueOf }: LoadedConfig, { features }: Io) {
  const { createService } = await import("../http/app.ts");
  const found = features.flatMap(({ routes }) => routes?.(valueOf) ?? []);
  const pages = found.flatMap((each) => each.pages);
  const topics = found.flatMap(({ topic }) => topic ?? []);
  const routes = await Promise.all(found.map((each) => each.load()));
  return { createService, pages, topics, routes };
}

/** When a start is over: what only it needed in memory is freed, some 2 MiB in milliseconds. */
const settledMs = 1_000;

function start(
  config: Config,
  { env }: Io,
  tls: Tls | undefined,
  handler: Parameters<typeof listen>[0],
): RunningServer {
  const { host, port } = config;
  const reusePort = isMember(env);
  try {
    return listen(handler, { host, port, reusePort, tls });
  } catch (error) {
    throw notListening(error, host, port);
  }
}

const portHints: Readonly<Record<string, string>> = {
  EACCES:
    "Choose a port from 1024 on. A lower one needs a privilege, which rehome service install gives to the service.",
  EADDRINUSE: "Stop what listens there, or choose another port with --port.",
};

function notListening(cause: unknown, host: string, port: number): AppError {
  const { code = "" } = cause as { code?: string };
  // For a name that leads nowhere, Bun reports any code.
  const isName = parseAddress(host) === undefined && host !== "localhost";
  const why = isName ? "the port is taken, or no such host is on this machine" : reasonOf(cause);
  const hint =
    (isName && code !== "EACCES" ? undefined : portHints[code]) ??
    "Give an address of this machine (ip address shows them), or 0.0.0.0 for all of them.";
  const message = `Cannot listen on ${host} port ${port}: ${why}.`;
  return new AppError("unavailable", message, { cause, hint });
}

/** A first key on an empty store, at a terminal: elsewhere no secret is printed unasked. */
async function firstKey(
  config: Config,
  services: Services,
  io: Io,
): Promise<IssuedKey | undefined> {
  if ((await services.keys.count()) > 0) return undefined;
  // Asked last: to look at standard output opens it, which takes milliseconds.
  if (!config.firstKey && !io.isTerminal) return undefined;
  try {
    return await services.keys.create({ name: "first key", plan: "free" });
  } catch (error) {
    // Another server that starts on this store made it meanwhile.
    if (error instanceof AppError && error.code === "keyNameTaken") return undefined;
    throw error;
  }
}

interface Shown {
  readonly pages: FeatureRoutes["pages"];
  readonly listening: readonly Listening[];
}

/** Tells a person what was started, and of a first key. `pages` are paths of the service. */
async function tellStart(
  loaded: LoadedConfig,
  services: Services,
  url: URL,
  io: Io,
  { pages, listening }: Shown,
): Promise<void> {
  const { baseUrl, host } = loaded.config;
  const issued = await firstKey(loaded.config, services, io);
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  const { origin } = new URL(`${url.protocol}//${localHost(host)}:${port}`);
  const pets = await services.pets.count();
  const keys = await services.keys.count();
  // A feature may have a longer title than the others, and all are in one column.
  const width = Math.max(5, ...[...pages, ...listening].map(({ title }) => title.length));
  const labelled = (label: string, text: string) => `  ${label.padEnd(width)} ${text}`;
  const lines = [
    `rehome ${version}`,
    labelled("API", `${origin}/v1${baseUrl === undefined ? "" : ` (callers use ${baseUrl})`}`),
    ...pages.map(({ title, path }) => labelled(title, `${origin}${path}`)),
    ...listening.flatMap(({ title, url: at, more }) => [labelled(title, at), ...more]),
    labelled("Data", `${services.place} (${counted(pets, "animal")}, ${counted(keys, "key")})`),
  ];
  if (issued !== undefined) lines.push(...firstSteps(issued, origin));
  else if (keys === 0) lines.push(`  No key exists yet: ${wayToKey(loaded)}`);
  const text = `${lines.join("\n")}\n`;
  if (issued === undefined) void announce(io, text);
  else await writeSecret(io, text, `rehome keys rotate ${issued.key.id} --grace 0`);
}

function wayToKey(loaded: LoadedConfig): string {
  const { environment } = loaded.config;
  if (dataFolderOf(loaded.config) === inMemory) {
    return "start again with --first-key. No other command reaches a store in memory.";
  }
  const command = commandHere(toMakeKey, loaded);
  return environment === settings.environment.default
    ? command
    : `${command} --environment ${environment}`;
}

function firstSteps({ key, secret }: IssuedKey, origin: string): string[] {
  const curl = `curl -i ${origin}/v1/pets -H "Authorization: Bearer ${secret}"`;
  return [
    "",
    `First key, shown only this once (plan ${key.plan}: ${limitsText(key.limits)}):`,
    `  ${secret}`,
    "",
    "Try it in another terminal:",
    // Not --json, which curl has since 7.82 only: Ubuntu 22.04 and Debian 11 have older ones.
    `  ${curl} -H "Content-Type: application/json" -d '{"name":"Rex","categoryId":1,"status":"available"}'`,
    `  ${curl}`,
  ];
}
