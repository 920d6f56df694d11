/** Where a setting's value comes from: flags, the environment, the machine's service. */
import { AppError } from "./domain/errors.ts";
import { nearest } from "./domain/names.ts";
import type { AnySetting } from "./setting-kinds.ts";

/** The environment that a program is started with. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

const variablePrefix = "REHOME_";

/** Where a setting's value came from: each beats those behind it. */
export const sources = ["flag", "environment", "service", "default"] as const;
export type Source = (typeof sources)[number];

/** A variable that the service of this machine is started with, and the file that sets it. */
export interface ServiceVariable {
  readonly text: string;
  readonly file: string;
}
export type ServiceVariables = ReadonlyMap<string, ServiceVariable>;

/** The name of a setting's variable: `--base-url` is `REHOME_BASE_URL`. */
export function variableOf({ flag }: Pick<AnySetting, "flag">): string {
  return variablePrefix + flag.replaceAll("-", "_").toUpperCase();
}

/** A setting with its value, where that comes from, and the text that it was given, if any. */
export interface LoadedSetting {
  readonly setting: AnySetting;
  readonly value: unknown;
  readonly source: Source;
  readonly text: string | undefined;
  /** The file that sets it, where the service's does. */
  readonly file?: string | undefined;
}

/** Throws for an unknown variable that looks like a setting. It would be ignored silently. */
export function refuseUnknown(
  env: EnvironmentVariables,
  service: ServiceVariables,
  known: readonly string[],
): void {
  const unknown = [...Object.keys(env), ...service.keys()]
    .filter((name) => name.startsWith(variablePrefix))
    .find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const ending = (name: string) => name.slice(variablePrefix.length);
  const guess = nearest(ending(unknown), known.map(ending));
  const what = `${unknown}${placeOf(service.get(unknown))}`;
  throw new AppError("invalid_request", `The variable ${what} is not a setting of rehome.`, {
    hint: guess === undefined ? "rehome serve --help" : `Name it ${variablePrefix}${guess}.`,
  });
}

function placeOf(variable: ServiceVariable | undefined): string {
  return variable === undefined ? "" : ` in ${variable.file}`;
}

/** What the settings are read from: each of them beats those behind it. */
interface Given {
  readonly flags: Readonly<Record<string, string>>;
  readonly env: EnvironmentVariables;
  readonly service: ServiceVariables;
}

/** Reads one setting. Throws `invalid_request` that says what would be valid. */
export function loadSetting(setting: AnySetting, { flags, env, service }: Given): LoadedSetting {
  const variable = variableOf(setting);
  const kept = service.get(variable);
  const given = [
    { source: "flag", text: flags[setting.flag], label: `--${setting.flag}` },
    { source: "environment", text: env[variable], label: variable },
    { source: "service", text: kept?.text, label: variable + placeOf(kept), file: kept?.file },
  ] as const;
  const found = given.find(({ text }) => text !== undefined);
  if (found?.text === undefined) {
    return { setting, value: setting.default, source: "default", text: undefined };
  }
  const { label, ...origin } = found;
  const value = setting.parse(found.text);
  if (value === undefined) {
    throw new AppError("invalid_request", `${label} ${setting.rule}; it is "${found.text}".`);
  }
  return { setting, value, ...origin };
}
