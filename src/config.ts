/** The settings: every name, default and bound, and where a value comes from. */
import { isAbsolute, join } from "node:path";
import { parseCidr, type Cidr } from "./domain/address.ts";
import { environments } from "./domain/api-key.ts";
import { AppError } from "./domain/errors.ts";
import { logFormats, logLevels } from "./domain/log.ts";

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** The environment as this program was started with it: the only place that reads it. */
export const processEnvironment: EnvironmentVariables = process.env;

/** One setting: flag, default, and how its text is read. Its variable is `REHOME_` and the flag. */
export interface Setting<T> {
  readonly flag: string;
  /** What stands for the value in a usage line; absent for a switch. */
  readonly placeholder?: string;
  readonly description: string;
  readonly default: T;
  /** Reads the text of a flag or a variable. Returns undefined when it is not valid. */
  readonly parse: (text: string) => T | undefined;
  /** What a valid value is, as the end of a sentence. */
  readonly rule: string;
  /** How the text is shown, where not all of it may be. */
  readonly shown?: (text: string) => string;
  /** True for what only one of several serving processes can have, such as its own address. */
  readonly firstOnly?: true;
}

export type AnySetting = Setting<unknown>;

type TextSetting = Setting<string | undefined>;

export function text(flag: string, placeholder: string, description: string): TextSetting {
  const parse = (value: string) => value || undefined;
  return { flag, placeholder, description, default: undefined, rule: "must not be empty", parse };
}

/** A host name or an address. One of IPv6 may stand in brackets, which are left out. */
export function host(flag: string, description: string, fallback: string): Setting<string> {
  const parse = (value: string) => value.replace(/^\[([\da-fA-F:.]+)\]$/, "$1") || undefined;
  return { ...text(flag, "ADDRESS", description), default: fallback, parse };
}

export function integer(
  flag: string,
  placeholder: string,
  description: string,
  { min, max, default: fallback }: { default: number; min: number; max: number },
): Setting<number> {
  const rule = `must be a whole number from ${min} to ${max}`;
  const parse = (value: string) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    return number >= min && number <= max ? number : undefined;
  };
  return { flag, placeholder, description, default: fallback, rule, parse };
}

export function oneOf<T extends string>(
  flag: string,
  description: string,
  values: readonly T[],
  fallback: T,
): Setting<T> {
  const [placeholder, rule] = [values.join("|"), `must be one of ${values.join(", ")}`];
  const parse = (value: string) => values.find((candidate) => candidate === value);
  return { flag, placeholder, description, default: fallback, rule, parse };
}

/** A switch: on when its flag is there. */
function toggle(flag: string, description: string): Setting<boolean> {
  const words: Readonly<Record<string, boolean>> = { true: true, 1: true, false: false, 0: false };
  const parse = (value: string) => words[value];
  return { flag, description, default: false, rule: "must be true or false", parse };
}

function list<T>(
  flag: string,
  placeholder: string,
  about: string,
  rule: string,
  item: (text: string) => T | undefined,
): Setting<readonly T[]> {
  const description = `${about} (repeatable; in the environment separated by commas)`;
  const parse = (value: string) => {
    const items = value.split(",").map((part) => item(part.trim()));
    return items.includes(undefined) ? undefined : (items as T[]);
  };
  return { flag, placeholder, description, default: [], rule, parse };
}

/** A base address as the specification has it: it ends in /v1. It becomes ASCII, for headers. */
function baseAddress(flag: string, description: string): TextSetting {
  const rule = "must be an http or https address that ends in /v1, without a password";
  const parse = (value: string) => {
    if (!/^https?:\/\/[^\s?#]+\/v1$/.test(value) || !URL.canParse(value)) return undefined;
    const { href, username, password } = new URL(value);
    // Every caller is shown it: no place for a secret.
    return username === "" && password === "" && href.endsWith("/v1") ? href : undefined;
  };
  return { flag, placeholder: "URL", description, default: undefined, rule, parse };
}

/** A web origin (RFC 6454), or `*` for all of them. Undefined when it is none. */
export function origin(value: string): string | undefined {
  if (value === "*") return value;
  if (value.includes("*")) return undefined;
  return URL.canParse(value) && new URL(value).origin === value ? value : undefined;
}

/** A list in which `*` stands for everything, and so alone. */
function allOrSome(each: Setting<readonly string[]>): Setting<readonly string[]> {
  const parse = (text: string) => {
    const items = each.parse(text);
    return items?.includes("*") === true && items.length > 1 ? undefined : items;
  };
  return { ...each, parse };
}

/** The address of a database without its password, also one that is mistyped. */
export function withoutPassword(address: string): string {
  return address
    .replace(/^(\w+:\/\/[^:]*|(?!\w+:\/\/)(?:postgres(?:ql)?:)?[^:]*):.*@/s, "$1:***@")
    .replace(/([?&]\w*password=)[^&#]*/gi, "$1***");
}

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
  corsOrigin: allOrSome(
    list(
      "cors-origin",
      "ORIGIN",
      "web origin that may call the service",
      "must be origins such as https://example.org, or * alone for all of them",
      origin,
    ),
  ),
  trustedProxy: list<Cidr>(
    "trusted-proxy",
    "CIDR",
    "proxy whose X-Forwarded headers are trusted",
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
    { default: 2_000, min: 1, max: 60_000 },
  ),
  shutdownTimeoutSeconds: integer(
    "shutdown-timeout",
    "SECONDS",
    "how long a stop waits for running requests",
    { default: 10, min: 0, max: 3_600 },
  ),
  logFormat: oneOf(
    "log-format",
    "format of the log; auto is text on a terminal, else json",
    ["auto", ...logFormats],
    "auto",
  ),
  logLevel: oneOf("log-level", "requests are info, failed ones error", logLevels, "info"),
  tlsCert: text("tls-cert", "FILE", "certificate chain (PEM) for HTTPS; reloaded on SIGHUP"),
  tlsKey: text("tls-key", "FILE", "private key (PEM) of --tls-cert"),
  firstKey: toggle(
    "first-key",
    "on an empty store, make a Free key and print it, even without a terminal",
  ),
} as const;

/**
 * Settings of the version before this one. Whoever still gives one, by a flag, a variable or the
 * service's file, gets a warning, and the service starts. A later version removes the entries.
 */
export const retiredSettings = [
  {
    flag: "log-file",
    placeholder: "FILE",
    instead: "The log goes to standard error: read it with journalctl, or append 2>> FILE.",
  },
  {
    flag: "reuse-port",
    instead: "For an upgrade without an outage, use --processes and systemctl reload.",
  },
] as const satisfies readonly (Pick<AnySetting, "flag" | "placeholder"> & { instead: string })[];

export type SettingName = keyof typeof settings;
type ValueOf<S> = S extends Setting<infer T> ? T : never;

const variablePrefix = "REHOME_";

/** The name of a setting's variable: `--base-url` is `REHOME_BASE_URL`. */
export function variableOf({ flag }: Pick<AnySetting, "flag">): string {
  return variablePrefix + flag.replaceAll("-", "_").toUpperCase();
}

/** Where a setting's value came from: each has priority over those behind it. */
export const sources = ["flag", "environment", "service", "default"] as const;

export interface SystemAccount {
  /** Its name, or `uid 1000` where it has none. */
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** The settings that the service of this machine is started with, and the file that has them. */
export interface ServiceSettings {
  readonly file: string;
  readonly variables: ReadonlyMap<string, string>;
  /** The owner of its data; undefined while there is none. */
  readonly account?: SystemAccount | undefined;
}

/** A setting with its value, where that comes from, and the text that it was given, if any. */
export interface LoadedSetting {
  readonly setting: AnySetting;
  readonly value: unknown;
  readonly source: (typeof sources)[number];
  readonly text: string | undefined;
}

/** All settings, checked. The data folder is always there: its default depends on the user. */
export type Config = {
  readonly [Name in SettingName]: Name extends "data" ? string : ValueOf<(typeof settings)[Name]>;
};

export interface LoadedConfig {
  readonly config: Config;
  /** The service of this machine, where its settings apply. */
  readonly service: ServiceSettings | undefined;
  readonly all: readonly LoadedSetting[];
  /** A warning for each setting that was given and does nothing any more. */
  readonly retired: readonly string[];
  /** Returns the value of a feature's setting. Throws for a setting that was not declared. */
  valueOf<T>(setting: Setting<T>): T;
  loadedOf(setting: AnySetting): LoadedSetting;
}

/** The databases that a flag overrules. Throws when flags, or variables, name two stores. */
function overruledStores(all: readonly LoadedSetting[]): readonly AnySetting[] {
  const databases: readonly AnySetting[] = [settings.store, settings.storeFile];
  const given = all.filter(
    ({ setting, text }) =>
      text !== undefined && (setting === settings.data || databases.includes(setting)),
  );
  const [flag, otherFlag] = given.filter(({ source }) => source === "flag");
  if (flag !== undefined && otherFlag !== undefined) {
    const flags = `--${flag.setting.flag} and --${otherFlag.setting.flag}`;
    throw new AppError("invalid_request", `${flags} name two stores; use one.`);
  }
  if (flag !== undefined) return databases.filter((each) => each !== flag.setting);
  if (given.filter(({ setting }) => databases.includes(setting)).length < 2) return [];
  const variables = databases.map(variableOf).join(" and ");
  throw new AppError("invalid_request", `${variables} are both set; use one.`);
}

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

/** Where the service of the system keeps its data, and where it has its settings from. */
export const serviceDataFolder = "/var/lib/rehome";
export const serviceSettingsFile = "/etc/default/rehome";

/**
 * The folder that holds a user's data unless another one is named. An empty or relative path counts
 * as not set (XDG base directory specification).
 */
export function defaultDataFolder({ XDG_DATA_HOME = "", HOME = "" }: EnvironmentVariables): string {
  if (isAbsolute(XDG_DATA_HOME)) return join(XDG_DATA_HOME, "rehome");
  return isAbsolute(HOME) ? join(HOME, ".local/share", "rehome") : serviceDataFolder;
}

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
  service?: ServiceSettings,
): LoadedConfig {
  const declared = [...Object.values<AnySetting>(settings), ...featureSettings];
  const given = { flags, env, service };
  refuseUnknown(given, [...declared, ...retiredSettings].map(variableOf));
  const read = declared.map((setting) => loadSetting(setting, given));
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
    service,
    all,
    retired: retiredSettings.flatMap((each) =>
      givenTexts(each, given)
        .filter(({ text }) => text !== undefined)
        .map(({ label }) => `${label} does nothing any more. ${each.instead}`),
    ),
    valueOf: <T>(setting: Setting<T>) => loadedOf(setting).value as T,
    loadedOf,
  };
}

/** Where settings are given. */
interface Given {
  readonly flags: Readonly<Record<string, string>>;
  readonly env: EnvironmentVariables;
  readonly service: ServiceSettings | undefined;
}

/** Throws for an unknown variable that looks like a setting. It would be ignored silently. */
function refuseUnknown({ env, service }: Given, known: readonly string[]): void {
  const isUnknown = (name: string) => name.startsWith(variablePrefix) && !known.includes(name);
  const ours = Object.keys(env).find(isUnknown);
  const unknown = ours ?? service?.variables.keys().find(isUnknown);
  if (unknown === undefined) return;
  const place = ours === undefined ? ` in ${service?.file}` : "";
  const message = `The variable ${unknown}${place} is not a setting of rehome.`;
  throw new AppError("invalid_request", message, { hint: "rehome serve --help" });
}

function loadSetting(setting: AnySetting, given: Given): LoadedSetting {
  const found = givenTexts(setting, given).find(({ text }) => text !== undefined);
  if (found?.text === undefined) {
    return { setting, value: setting.default, source: "default", text: undefined };
  }
  const { label, source, text } = found;
  const value = setting.parse(text);
  if (value === undefined) {
    throw new AppError(
      "invalid_request",
      `${label} ${setting.rule}; it is "${(setting.shown ?? String)(text)}".`,
    );
  }
  return { setting, value, source, text };
}

/** What each place says of a setting, the one with priority first. */
function givenTexts(setting: Pick<AnySetting, "flag">, { flags, env, service }: Given) {
  const variable = variableOf(setting);
  return [
    { source: "flag", text: flags[setting.flag], label: `--${setting.flag}` },
    { source: "environment", text: env[variable], label: variable },
    {
      source: "service",
      text: service?.variables.get(variable),
      label: `${variable} in ${service?.file}`,
    },
  ] as const;
}
