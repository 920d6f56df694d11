/** The settings of a running service, as its next start would read them. */
import { existsSync } from "node:fs";
import type { Io } from "../../../cli/io.ts";
import { readSettingsFile } from "../../../cli/machine.ts";
import { featureSettings } from "../../../cli/options.ts";
import {
  type EnvironmentVariables,
  loadConfig,
  type LoadedConfig,
  serviceSettingsFile,
} from "../../../config.ts";

/** Settings, and the variables of the process that they are for. */
export interface Reread {
  readonly loaded: LoadedConfig;
  readonly env: EnvironmentVariables;
}

/**
 * Remembers where the settings of this process came from. What it returns reads them again; it
 * throws AppError where they are wrong.
 */
export function settingsReader(loaded: LoadedConfig, io: Io, file = serviceSettingsFile) {
  const ofFlags = loaded.all.filter(({ source }) => source === "flag");
  const flags = Object.fromEntries(ofFlags.map(({ setting, text = "" }) => [setting.flag, text]));
  const ours = featureSettings(io.features);
  const before = readIfAllowed(file);
  const isOfUnit = isFrom(before, io.env);
  return (): Reread => {
    const service = loaded.service === undefined ? undefined : io.machine.service();
    const env = isOfUnit ? replaced(io.env, before, readSettingsFile(file)) : io.env;
    return { loaded: loadConfig(flags, env, ours, service), env };
  };
}

/** What is in the file; nothing where there is none, or it is closed to this account. */
function readIfAllowed(file: string): ReadonlyMap<string, string> {
  try {
    return existsSync(file) ? readSettingsFile(file) : new Map();
  } catch {
    return new Map();
  }
}

/** Whether systemd put the file's variables into the environment, as the unit says. */
function isFrom(file: ReadonlyMap<string, string>, env: EnvironmentVariables): boolean {
  return file.size > 0 && [...file].every(([name, value]) => env[name] === value);
}

function replaced(
  env: EnvironmentVariables,
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): EnvironmentVariables {
  const others = Object.entries(env).filter(([name]) => !before.has(name));
  return Object.fromEntries([...others, ...now]);
}
