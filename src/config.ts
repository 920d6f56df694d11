import { isAbsolute, join } from "node:path";
import { parseCidr, type Cidr } from "./domain/address.ts";
import { environments } from "./domain/api-key.ts";
import { AppError } from "./domain/errors.ts";
import { logFormats, logLevels } from "./domain/log.ts";
import {
  baseAddress,
  host,
  integer,
  list,
  oneOf,
  origin,
  text,
  toggle,
  withoutPassword,
  type AnySetting,
  type Setting,
} from "./setting-kinds.ts";
import {
  loadSetting,
  refuseUnknown,
  variableOf,
  type EnvironmentVariables,
  type LoadedSetting,
  type ServiceVariables,
} from "./setting-sources.ts";

export {
  sources,
  variableOf,
  type EnvironmentVariables,
  type LoadedSetting,
  type ServiceVariable,
  type ServiceVariables,
} from "./setting-sources.ts";

/** The environment as this program was started with it: the only place that reads it. */
export const processEnvironment: EnvironmentVariables = process.env;

/** The core's settings in the order of help. A feature declares its own beside them. */
export const settings = {
  host: host("host", "address to listen on; 0.0.0.0 for all networks", "127.0.0.1"),
  port: integer("port", "PORT", "port to listen on; 0 for any free port", {
    default: 8080,
    min: 0,
    max: 65_535,
  }),
  data: text("data", "DIR", "data folder"),
  store: {
    ...text(
      "store",
      "URL",
      "PostgreSQL database instead of a data folder: postgres://USER:PASSWORD@HOST/DATABASE",
    ),
    shown: withoutPassword,
  },
  storeFile: text(
    "store-file",
    "FILE",
    "file with the address for --store, so that no process list shows its password",
  ),
  movedStore: toggle("moved-store", "use the old copy of a store that was moved"),
  environment: oneOf(
    "environment",
    "production issues rehome_live_ keys, staging rehome_test_ ones",
    environments,
    "production",
  ),
  baseUrl: baseAddress("base-url", "public address of /v1, for links and the document"),
  stagingBaseUrl: baseAddress(
    "staging-base-url",
    "address of the staging installation's /v1, for the document",
  ),
  corsOrigin: list(
    "cors-origin",
    "ORIGIN",
    "web origin that may call the service",
    "must be origins such as https://example.org, or *",
    origin,
  ),
  trustedProxy: list<Cidr>(
    "trusted-proxy",
    "CIDR",
    "proxy whose X-Forwarded-For is trusted",
    "must be addresses or ranges such as 10.0.0.0/8",
    parseCidr,
  ),
  anonymousPerMinute: integer(
    "anonymous-per-minute",
    "N",
    "requests per minute for an address without a valid key",
    { default: 300, min: 1, max: 1_000_000_000 },
  ),
  bans: oneOf("bans", "ban keys that keep sending after 429", ["on", "off"], "on"),
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
    "how long a stop waits for running requests",
    {
      default: 10,
      min: 0,
      max: 3_600,
    },
  ),
  logFile: text(
    "log-file",
    "FILE",
    "file to append the log to, reopened on SIGHUP; standard error by default",
  ),
  logFormat: oneOf(
    "log-format",
    "format of the log; auto is text on a terminal, else json",
    ["auto", ...logFormats],
    "auto",
  ),
  logLevel: oneOf("log-level", "requests are info, failed ones error", logLevels, "info"),
  reusePort: toggle(
    "reuse-port",
    "share the port with another rehome, for an upgrade without an outage",
  ),
  tlsCert: text("tls-cert", "FILE", "certificate chain (PEM) for HTTPS; reloaded on SIGHUP"),
  tlsKey: text("tls-key", "FILE", "private key (PEM) of --tls-cert"),
  firstKey: toggle(
    "first-key",
    "on an empty store, make a Free key and print it, even without a terminal",
  ),
} as const;

export type SettingName = keyof typeof settings;
type ValueOf<S> = S extends Setting<infer T> ? T : never;

/** All settings, checked. The data folder is always there: its default depends on the user. */
export type Config = {
  readonly [Name in SettingName]: Name extends "data" ? string : ValueOf<(typeof settings)[Name]>;
};

export interface LoadedConfig {
  readonly config: Config;
  /** Every setting: the core's, then those of the features. */
  readonly all: readonly LoadedSetting[];
  /** Returns the value of a feature's setting. Throws for a setting that was not declared. */
  valueOf<T>(setting: Setting<T>): T;
  /** Where that comes from, too. */
  loadedOf(setting: AnySetting): LoadedSetting;
}

/** The databases that a flag overrules. Throws when flags, or variables, name two stores. */
function overruledStores(all: readonly LoadedSetting[]): readonly AnySetting[] {
  const databases: readonly AnySetting[] = [settings.store, settings.storeFile];
  const given = all.filter(
    ({ setting, text }) => text !== undefined && databases.includes(setting),
  );
  const named = all.filter(
    ({ setting, source }) =>
      source === "flag" && (setting === settings.data || databases.includes(setting)),
  );
  if (named.length > 1) {
    const flags = named.map(({ setting }) => `--${setting.flag}`).join(" and ");
    throw new AppError("invalid_request", `${flags} name two stores; use one.`);
  }
  const [chosen] = named;
  if (chosen !== undefined) return databases.filter((each) => each !== chosen.setting);
  if (given.length > 1) {
    const variables = databases.map(variableOf).join(" and ");
    throw new AppError("invalid_request", `${variables} are both set; use one.`);
  }
  return [];
}

/** Returns the value of a setting as anybody may see it, or undefined when it has none. */
export function shownValue({
  setting: { shown = String },
  value,
  text,
}: LoadedSetting): string | number | boolean | string[] | undefined {
  // Show the value as its owner wrote it, not as it was read.
  if (Array.isArray(value)) return text?.split(",").map((part) => part.trim()) ?? [];
  if (typeof value === "object") return text;
  return typeof value === "string" ? shown(value) : (value as number | boolean | undefined);
}

/** Where the unit of the system keeps its data, and where it has its settings from. */
export const serviceDataFolder = "/var/lib/rehome";
export const serviceSettingsFile = "/etc/default/rehome";

/**
 * The variable for a user's data, or undefined if none is set. An empty or relative path counts as
 * not set (XDG base directory specification).
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

/** The data folder that the settings name, or undefined where they name a database. */
export function dataFolderOf({ data, store, storeFile }: Config): string | undefined {
  return store === undefined && storeFile === undefined ? data : undefined;
}

/**
 * True when flags or the environment say where the data is. What they name may be another store
 * than that of this machine's service, whose settings then do not apply.
 */
export function isStoreNamed(
  flags: Readonly<Record<string, string>>,
  env: EnvironmentVariables,
): boolean {
  return [settings.data, settings.store, settings.storeFile].some(
    (setting) => flags[setting.flag] !== undefined || env[variableOf(setting)] !== undefined,
  );
}

/**
 * The settings of the core and of the features, from flags (by their names on the command line),
 * environment, and what the service of this machine is started with. Throws `invalid_request` for a
 * value that is not valid, and for a variable that is no setting.
 */
export function loadConfig(
  flags: Readonly<Record<string, string>>,
  env: EnvironmentVariables,
  featureSettings: readonly AnySetting[],
  service: ServiceVariables = new Map(),
): LoadedConfig {
  const declared = [...Object.values<AnySetting>(settings), ...featureSettings];
  refuseUnknown(env, service, declared.map(variableOf));
  const read = declared.map((setting) => loadSetting(setting, { flags, env, service }));
  const overruled = overruledStores(read);
  const all = read.map((each) => {
    if (overruled.includes(each.setting)) return { ...each, value: undefined };
    return each.setting === settings.data && each.value === undefined
      ? { ...each, value: defaultDataFolder(env) }
      : each;
  });
  const loadedOf = (setting: AnySetting) => {
    const found = all.find((each) => each.setting === setting);
    if (found === undefined) throw new Error(`--${setting.flag} was not declared`);
    return found;
  };
  const ofCore = Object.entries<AnySetting>(settings);
  const values = ofCore.map(([name, setting]) => [name, loadedOf(setting).value] as const);
  return {
    config: Object.fromEntries(values) as Config,
    all,
    valueOf: <T>(setting: Setting<T>) => loadedOf(setting).value as T,
    loadedOf,
  };
}
