import { join } from "node:path";
import { parseCidr, type Cidr } from "./domain/address.ts";
import { environments } from "./domain/api-key.ts";
import { AppError } from "./domain/errors.ts";

/** The environment as this program was started with it: the only place that reads it. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;
export const processEnvironment: EnvironmentVariables = process.env;

const variablePrefix = "REHOME_";

/** Where a setting's value came from. A flag beats the environment, and that beats the default. */
export type Source = "flag" | "environment" | "default";

/** One setting: its flag, its default, and how its text is read. Its variable is `REHOME_` and the flag's name. */
interface Setting<T> {
  readonly flag: string;
  /** What stands for the value in a usage line; absent for a switch. */
  readonly placeholder?: string;
  readonly description: string;
  readonly default: T;
  /** Reads the text of a flag or a variable. Returns undefined when it is not valid. */
  readonly parse: (text: string) => T | undefined;
  /** What a valid value is, as the end of a sentence. */
  readonly rule: string;
}

function text(
  flag: string,
  placeholder: string,
  description: string,
  fallback: string | undefined,
): Setting<string | undefined> {
  return {
    flag,
    placeholder,
    description,
    default: fallback,
    rule: "must not be empty",
    parse: (value) => (value === "" ? undefined : value),
  };
}

function integer(
  flag: string,
  placeholder: string,
  description: string,
  bounds: { default: number; min: number; max: number },
): Setting<number> {
  return {
    flag,
    placeholder,
    description,
    default: bounds.default,
    rule: `must be a whole number from ${bounds.min} to ${bounds.max}`,
    parse(value) {
      const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
      return number >= bounds.min && number <= bounds.max ? number : undefined;
    },
  };
}

function oneOf<T extends string>(
  flag: string,
  description: string,
  values: readonly T[],
  fallback: T,
): Setting<T> {
  return {
    flag,
    placeholder: values.join("|"),
    description,
    default: fallback,
    rule: `must be one of ${values.join(", ")}`,
    parse: (value) => values.find((candidate) => candidate === value),
  };
}

function toggle(flag: string, description: string): Setting<boolean> {
  return {
    flag,
    description,
    default: false,
    rule: "must be true or false",
    parse: (value) => ({ true: true, "1": true, false: false, "0": false })[value],
  };
}

function list<T>(
  flag: string,
  placeholder: string,
  description: string,
  rule: string,
  item: (text: string) => T | undefined,
): Setting<readonly T[]> {
  return {
    flag,
    placeholder,
    description: `${description} (repeatable; in the environment separated by commas)`,
    default: [],
    rule,
    parse(value) {
      const items = value.split(",").map((part) => item(part.trim()));
      return items.includes(undefined) ? undefined : (items as T[]);
    },
  };
}

/** A base address as the specification has it: it ends in /v1. */
function baseAddress(flag: string, description: string): Setting<string | undefined> {
  return {
    flag,
    placeholder: "URL",
    description,
    default: undefined,
    rule: "must be an http or https address that ends in /v1",
    parse: (value) =>
      /^https?:\/\/[^\s?#]+\/v1$/.test(value) && URL.canParse(value) ? value : undefined,
  };
}

function origin(value: string): string | undefined {
  if (value === "*") return value;
  return URL.canParse(value) && new URL(value).origin === value ? value : undefined;
}

/** Every setting of the server, in the order in which help shows them. */
export const settings = {
  host: text("host", "ADDRESS", "address to listen on; 0.0.0.0 for every network", "127.0.0.1"),
  port: integer("port", "PORT", "port to listen on; 0 for any free one", {
    default: 8080,
    min: 0,
    max: 65_535,
  }),
  data: text("data", "DIR", "data folder", undefined),
  store: text(
    "store",
    "URL",
    "PostgreSQL database instead of a data folder: postgres://USER:PASSWORD@HOST/DATABASE",
    undefined,
  ),
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
  reusePort: toggle(
    "reuse-port",
    "share the port with another rehome, for an upgrade without an outage",
  ),
  firstKey: toggle("first-key", "on an empty store, make a Free key and print it, terminal or not"),
} as const;

export type SettingName = keyof typeof settings;
type ValueOf<S> = S extends Setting<infer T> ? T : never;

/** All settings, checked. */
export type Config = { readonly [Name in SettingName]: ValueOf<(typeof settings)[Name]> };

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

/** The folder that holds a user's data unless another one is named (XDG base directory specification). */
export function defaultDataFolder(env: EnvironmentVariables): string {
  const home = env["HOME"];
  const base =
    env["XDG_DATA_HOME"] ?? (home === undefined ? undefined : join(home, ".local/share"));
  return base === undefined ? "/var/lib/rehome" : join(base, "rehome");
}

export interface LoadedConfig {
  readonly config: Config;
  readonly sources: Readonly<Record<SettingName, Source>>;
}

/**
 * The settings from flags and environment. Throws `invalid_request` that names the flag or variable, its value and what
 * would be valid.
 */
export function loadConfig(
  flags: Readonly<Partial<Record<SettingName, string>>>,
  env: EnvironmentVariables,
): LoadedConfig {
  const config: Record<string, unknown> = {};
  const sources: Record<string, Source> = {};
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
  }
  config["data"] ??= defaultDataFolder(env);
  chooseStore(config, sources);
  return {
    config: Object.freeze(config) as Config,
    sources: sources as Record<SettingName, Source>,
  };
}
