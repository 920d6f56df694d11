import { isAbsolute, join } from "node:path";
import { parseCidr, type Cidr } from "./domain/address.ts";
import { environments } from "./domain/api-key.ts";
import { AppError } from "./domain/errors.ts";
import { logFormats, logLevels } from "./domain/log.ts";
import { nearest } from "./domain/spelling.ts";
import {
  baseAddress,
  host,
  integer,
  list,
  listenAddress,
  oneOf,
  origin,
  text,
  toggle,
  withoutPassword,
  type Setting,
} from "./setting-kinds.ts";

/** The environment as this program was started with it: the only place that reads it. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;
export const processEnvironment: EnvironmentVariables = process.env;

const variablePrefix = "REHOME_";

/** Where a setting's value came from. A flag beats the environment, and that beats the default. */
export const sources = ["flag", "environment", "default"] as const;
export type Source = (typeof sources)[number];

/** Every setting of the server, in the order in which help shows them. */
export const settings = {
  host: host("host", "address to listen on; 0.0.0.0 for every network", "127.0.0.1"),
  port: integer("port", "PORT", "port to listen on; 0 for any free one", {
    default: 8080,
    min: 0,
    max: 65_535,
  }),
  data: text("data", "DIR", "data folder", undefined),
  store: {
    ...text(
      "store",
      "URL",
      "PostgreSQL database instead of a data folder: postgres://USER:PASSWORD@HOST/DATABASE",
      undefined,
    ),
    shown: withoutPassword,
  },
  storeFile: text(
    "store-file",
    "FILE",
    "file that holds what --store would say, so that no process list shows its password",
    undefined,
  ),
  environment: oneOf(
    "environment",
    "production issues rehome_live_ keys, staging rehome_test_ ones",
    environments,
    "production",
  ),
  baseUrl: baseAddress(
    "base-url",
    "address of /v1 as callers reach it, for links and the document",
  ),
  stagingBaseUrl: baseAddress(
    "staging-base-url",
    "address of the staging installation's /v1, for the document",
  ),
  corsOrigin: list(
    "cors-origin",
    "ORIGIN",
    "web origin whose pages may call the service",
    "must be origins such as https://example.org, or *",
    origin,
  ),
  trustedProxy: list<Cidr>(
    "trusted-proxy",
    "CIDR",
    "proxies whose X-Forwarded-For is believed",
    "must be addresses or ranges such as 10.0.0.0/8",
    parseCidr,
  ),
  anonymousPerMinute: integer(
    "anonymous-per-minute",
    "N",
    "requests per minute for an address without a valid key",
    { default: 300, min: 1, max: 1_000_000_000 },
  ),
  bans: oneOf("bans", "ban keys that go on after 429", ["on", "off"], "on"),
  storeTimeoutMs: integer(
    "store-timeout",
    "MS",
    "how long a request waits for the store before it gets 503, in ms",
    {
      default: 2_000,
      min: 1,
      max: 60_000,
    },
  ),
  shutdownTimeoutSeconds: integer(
    "shutdown-timeout",
    "SECONDS",
    "how long a stop waits for requests under way",
    {
      default: 10,
      min: 0,
      max: 3_600,
    },
  ),
  logFile: text(
    "log-file",
    "FILE",
    "file to append the log to, opened anew on SIGHUP; standard error if there is none",
    undefined,
  ),
  logFormat: oneOf(
    "log-format",
    "json for programs, text for people; auto is text on a terminal",
    ["auto", ...logFormats],
    "auto",
  ),
  logLevel: oneOf("log-level", "requests are info, failed ones error", logLevels, "info"),
  metrics: listenAddress(
    "metrics",
    "serve Prometheus metrics there, to whoever reaches that address; off if not given",
  ),
  reusePort: toggle(
    "reuse-port",
    "share the port with another rehome, for an upgrade without an outage",
  ),
  tlsCert: text(
    "tls-cert",
    "FILE",
    "certificate chain (PEM) to serve HTTPS with; read again on SIGHUP",
    undefined,
  ),
  tlsKey: text("tls-key", "FILE", "private key (PEM) of --tls-cert", undefined),
  firstKey: toggle("first-key", "on an empty store, make a Free key and print it, terminal or not"),
} as const;

export type SettingName = keyof typeof settings;
type ValueOf<S> = S extends Setting<infer T> ? T : never;

/** All settings, checked. The data folder is always there: its default is another one for each user. */
export type Config = {
  readonly [Name in SettingName]: Name extends "data" ? string : ValueOf<(typeof settings)[Name]>;
};

/** The name of a setting's variable: `--base-url` is `REHOME_BASE_URL`. */
export function variableOf(name: SettingName): string {
  return variablePrefix + settings[name].flag.replaceAll("-", "_").toUpperCase();
}

/** Leaves one place to keep data in: the one that a flag names, where flag and environment name different ones. */
function chooseStore(config: Record<string, unknown>, sources: Record<string, Source>): void {
  const named = (["data", "store", "storeFile"] as const).filter(
    (name) => sources[name] === "flag",
  );
  if (named.length > 1) {
    const flags = named.map((name) => `--${settings[name].flag}`).join(" and ");
    throw new AppError("invalid_request", `${flags} name two places for the data; choose one.`);
  }
  const [chosen] = named;
  if (chosen === "data" || chosen === "storeFile") config["store"] = undefined;
  if (chosen === "data" || chosen === "store") config["storeFile"] = undefined;
  if (config["store"] !== undefined && config["storeFile"] !== undefined) {
    const variables = `${variableOf("store")} and ${variableOf("storeFile")}`;
    throw new AppError("invalid_request", `${variables} are both set; choose one.`);
  }
}

/** The value of a setting as it may be shown to anybody, or undefined when it has none. */
export function shownValue(
  name: SettingName,
  { config, given }: LoadedConfig,
): string | number | boolean | string[] | undefined {
  const { shown = String }: Setting<unknown> = settings[name];
  const value = config[name];
  // A part of a list may be more than its text; what was given says it as its owner wrote it.
  if (Array.isArray(value)) {
    const parts = given[name]?.split(",") ?? [];
    return parts.map((part) => part.trim());
  }
  return typeof value === "string" ? shown(value) : (value as number | boolean | undefined);
}

/** Where the unit of the system keeps its data, and where it has its settings from. */
export const serviceDataFolder = "/var/lib/rehome";
export const serviceSettingsFile = "/etc/default/rehome";

/**
 * The variable that says where a user's data is, or undefined where none does. One that is empty, or holds a path from
 * wherever one stands, is as good as not set (XDG base directory specification).
 */
export function dataHomeVariable(env: EnvironmentVariables): "XDG_DATA_HOME" | "HOME" | undefined {
  return (["XDG_DATA_HOME", "HOME"] as const).find((name) => isAbsolute(env[name] ?? ""));
}

/** The folder that holds a user's data unless another one is named. */
export function defaultDataFolder(env: EnvironmentVariables): string {
  const variable = dataHomeVariable(env);
  if (variable === undefined) return serviceDataFolder;
  return join(env[variable] ?? "", variable === "HOME" ? ".local/share" : "", "rehome");
}

export interface LoadedConfig {
  readonly config: Config;
  readonly sources: Readonly<Record<SettingName, Source>>;
  /** The text that each setting was given, where it was. */
  readonly given: Readonly<Partial<Record<SettingName, string>>>;
}

/** Throws for a variable that looks like a setting and is none: it would be ignored, and nobody would know. */
function refuseUnknown(env: EnvironmentVariables): void {
  const ending = (name: string) => name.slice(variablePrefix.length);
  const known = (Object.keys(settings) as SettingName[]).map(variableOf).map(ending);
  const unknown = Object.keys(env)
    .filter((name) => name.startsWith(variablePrefix))
    .find((name) => !known.includes(ending(name)));
  if (unknown === undefined) return;
  const guess = nearest(ending(unknown), known);
  throw new AppError("invalid_request", `The variable ${unknown} is no setting of rehome.`, {
    hint: guess === undefined ? "rehome serve --help" : `Name it ${variablePrefix}${guess}.`,
  });
}

/**
 * The settings from flags and environment. Throws `invalid_request` that names the flag or variable, its value and what
 * would be valid, or the right name of a variable that is none.
 */
export function loadConfig(
  flags: Readonly<Partial<Record<SettingName, string>>>,
  env: EnvironmentVariables,
): LoadedConfig {
  refuseUnknown(env);
  const config: Record<string, unknown> = {};
  const sources: Record<string, Source> = {};
  const texts: Partial<Record<SettingName, string>> = {};
  for (const name of Object.keys(settings) as SettingName[]) {
    const setting: Setting<unknown> = settings[name];
    const variable = variableOf(name);
    const [given, source, label] =
      flags[name] !== undefined
        ? [flags[name], "flag" as const, `--${setting.flag}`]
        : [env[variable], "environment" as const, variable];
    if (given === undefined) {
      config[name] = setting.default;
      sources[name] = "default";
      continue;
    }
    const value = setting.parse(given);
    if (value === undefined) {
      throw new AppError("invalid_request", `${label} ${setting.rule}; it is "${given}".`);
    }
    config[name] = value;
    sources[name] = source;
    texts[name] = given;
  }
  config["data"] ??= defaultDataFolder(env);
  chooseStore(config, sources);
  return {
    config: Object.freeze(config) as Config,
    sources: sources as Record<SettingName, Source>,
    given: texts,
  };
}
