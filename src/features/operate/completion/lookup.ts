import { featureSettings } from "../../../cli/options.ts";
import { dataFolderOf, isStoreNamed, loadConfig, settings } from "../../../config.ts";
import { peekKeys, peekPets } from "./peek.ts";
import type { Io } from "../../../cli/io.ts";
import { cut, printable } from "../../../cli/terminal/text.ts";
import { startingWith, type Candidate, type Lookup } from "./complete.ts";

const aboutCells = 40;

/** Looks keys and animals up in the data folder that the settings name. */
export function storeLookup(io: Io): Lookup {
  return async (kind, typed, flags) => {
    const folder = folderOf(flags, io);
    if (folder === undefined) return [];
    return kind === "key" ? keyCandidates(folder, typed) : petCandidates(folder, typed);
  };
}

/** Ids, and labels too where something was typed that no id begins with. */
function keyCandidates(folder: string, typed: string): readonly Candidate[] {
  const keys = peekKeys(folder);
  const ids = keys.map(({ id, name, plan }) => ({
    value: id,
    about: `${shortened(name)} (${plan})`,
  }));
  const found = startingWith(typed, ids);
  if (found.length > 0) return found;
  const labels = keys.map(({ id, name, plan }) => ({ value: name, about: `${id} (${plan})` }));
  return startingWith(typed, labels).filter(({ value }) => value === printable(value));
}

function petCandidates(folder: string, typed: string): readonly Candidate[] {
  if (!/^(?:[1-9]\d{0,17})?$/.test(typed)) return [];
  return peekPets(folder, typed).map(({ id, name }) => ({
    value: String(id),
    about: shortened(name),
  }));
}

function shortened(text: string): string {
  return cut(printable(text), aboutCells);
}

/** The data folder that the command would use; undefined for a database, which no Tab asks. */
function folderOf(given: ReadonlyMap<string, string>, io: Io): string | undefined {
  const flags: Record<string, string> = {};
  for (const { flag } of [settings.data, settings.store, settings.storeFile]) {
    const value = given.get(`--${flag}`);
    if (value !== undefined) flags[flag] = value;
  }
  const service = isStoreNamed(flags, io.env) ? undefined : io.machine.service();
  const { config } = loadConfig(flags, io.env, featureSettings(io.features), service?.variables);
  // Root must not leave files of its own beside the service's database.
  if (service?.account !== undefined && io.machine.uid === 0) io.machine.become(service.account);
  return dataFolderOf(config);
}
