/** How this program starts another process of its own executable. */
import {
  dataFolderOf,
  settings,
  variableOf,
  type AnySetting,
  type EnvironmentVariables,
  type LoadedConfig,
} from "../config.ts";

/** Read at the start: the system renames the file of a program that an upgrade replaced. */
const path = process.execPath;

/** The words that start this program: the executable, or Bun and the program's file. */
export function program(): string[] {
  return Bun.isStandaloneExecutable ? [path] : [path, Bun.main];
}

/**
 * The environment of a process with the settings of this one, wherever those came from. They are
 * variables, because a process list shows arguments to everybody. `changed` replaces some, and
 * leaves out those that it has as undefined.
 */
export function childEnvironment(
  { all, config }: LoadedConfig,
  env: EnvironmentVariables,
  changed: ReadonlyMap<AnySetting, string | undefined> = new Map(),
): Record<string, string | undefined> {
  const known = new Set(all.map(({ setting }) => variableOf(setting)));
  // The channel to this process's own parent is not the child's.
  const others = Object.entries(env).filter(
    ([name]) => !known.has(name) && !name.startsWith("NODE_CHANNEL_"),
  );
  const given = all.map(({ setting, text, value }) => [
    variableOf(setting),
    changed.has(setting) ? changed.get(setting) : value === undefined ? undefined : text,
  ]);
  const data = dataFolderOf(config);
  return Object.fromEntries([
    ...others,
    ...given.filter(([, text]) => text !== undefined),
    ...(data === undefined ? [] : [[variableOf(settings.data), data]]),
  ]) as Record<string, string | undefined>;
}
