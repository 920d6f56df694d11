import { existsSync, readFileSync, statSync } from "node:fs";
import { parseEnv } from "node:util";
import {
  defaultDataFolder,
  serviceDataFolder,
  serviceSettingsFile,
  settings as kernelSettings,
  variableOf,
  type Config,
} from "../config.ts";
import { systemClock } from "../domain/clock.ts";
import { AppError } from "../domain/errors.ts";
import { reasonOf } from "../domain/system-error.ts";
import { closing } from "../service/closing.ts";
import { catalogueFile, inMemory, openStore, type StoreObserver } from "../service/open-store.ts";
import { createServices, type Services } from "../service/services.ts";
import type { Io } from "./io.ts";
import { messageOf } from "./message.ts";

/** The system's generator of random bytes. */
export const randomBytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));

export interface OpenOptions {
  /** True for a server: nothing may block its thread. */
  readonly serving: boolean;
  readonly observer?: StoreObserver | undefined;
  readonly onError: (error: unknown) => void;
}

/** Opens the store that the settings name, and the services on it. */
export async function openServices(
  config: Config,
  io: Io,
  options: OpenOptions,
): Promise<Services> {
  const address = await storeAddress(config);
  const store = await openStore(
    address,
    {
      folder: config.data,
      clock: systemClock,
      random: Math.random,
      timeoutMs: config.storeTimeoutMs,
      serving: options.serving,
      onProblem: options.onError,
      onBackup: (file) =>
        io.err(`The schema is brought up to date; the catalogue as it was is kept in ${file}.\n`),
      ...options.observer,
    },
    io.annexes.flatMap(({ stores = [] }) => stores),
  );
  return createServices(store, {
    environment: config.environment,
    clock: systemClock,
    randomBytes,
    actor: options.serving ? "server" : io.actor,
    anonymousPerMinute: config.anonymousPerMinute,
    bans: config.bans === "on",
    onError: options.onError,
  });
}

/** What a command does where there is no catalogue yet. */
export interface Beginning {
  /** True for a command that adds something, and so may begin a catalogue. */
  readonly begins?: boolean;
  /** True for one that only says what it would add: it begins a catalogue in memory, and leaves nothing. */
  readonly rehearses?: boolean;
}

/** The service that the system runs, if there is one. */
export interface MachineService {
  readonly folder: string;
  /** The file with its variables. */
  readonly settings: string;
}

const machineService: MachineService = {
  folder: serviceDataFolder,
  settings: serviceSettingsFile,
};

/** Runs `work` on the store for one command, and closes it whatever happens. */
export async function withServices<T>(
  config: Config,
  io: Io,
  work: (services: Services) => Promise<T>,
  beginning: Beginning = {},
): Promise<T> {
  refuseStray(config, io, machineService, beginning);
  const isRehearsal = beginning.rehearses === true && !mayHoldCatalogue(config);
  if (isRehearsal) {
    io.err(`There is no catalogue in ${config.data} yet; this would begin one.\n`);
  }
  const services = await openServices(isRehearsal ? { ...config, data: inMemory } : config, io, {
    serving: false,
    onError: (error) => io.err(`Warning: ${messageOf(error)}\n`),
  });
  return closing(
    () => services.close(),
    () => work(services),
  );
}

/**
 * Throws where there is no catalogue and the command shall not begin one. One that only looks or changes would find nothing
 * in a misspelt folder, and leave an empty catalogue there. One that was told no folder does not begin a catalogue of the
 * user's own beside that of the machine's service: a key in it would be a key to nothing. Nor does one in the service's
 * folder when the service keeps a database instead.
 */
export function refuseStray(
  config: Config,
  io: Io,
  service: MachineService,
  { begins = false }: Beginning,
): void {
  if (mayHoldCatalogue(config)) return;
  const folder = config.data;
  const isStray = folder === defaultDataFolder(io.env) && folder !== service.folder;
  if (isStray && existsSync(service.folder)) {
    throw new AppError(
      "invalid_request",
      `There is no catalogue in ${folder}, and the service of this machine keeps its own in ${service.folder}.`,
      {
        hint: `Add --data ${service.folder}, as the user of the service (sudo -u rehome); or name the other folder with --data.`,
      },
    );
  }
  const database = folder === service.folder ? databaseOf(service) : undefined;
  if (database !== undefined) {
    throw new AppError(
      "invalid_request",
      `The service of this machine keeps its data in a database, not in ${folder}: ${service.settings} sets ${database}.`,
      { hint: "Name the same database with --store-file or --store." },
    );
  }
  if (begins) return;
  throw new AppError("not_found", `There is no catalogue in ${folder}.`, {
    hint: "Name the data folder with --data. To begin a catalogue there: rehome serve, or rehome keys create.",
  });
}

/** The variable that names a database in the service's settings, or undefined where none can be read there. */
function databaseOf({ settings }: MachineService): string | undefined {
  try {
    const variables = parseEnv(readFileSync(settings, "utf8"));
    return [kernelSettings.storeFile, kernelSettings.store]
      .map(variableOf)
      .find((name) => variables[name]);
  } catch {
    return undefined;
  }
}

/** False only where there is certainly no catalogue. What cannot be looked at is reported when it is opened. */
function mayHoldCatalogue({ data: folder, store, storeFile }: Config): boolean {
  if (store !== undefined || storeFile !== undefined || folder === inMemory) return true;
  try {
    return statSync(catalogueFile(folder), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

/** The address of the database that the settings name, or undefined when they name a folder. */
export async function storeAddress({ store, storeFile }: Config): Promise<string | undefined> {
  return storeFile === undefined ? store : addressIn(storeFile, "store-file");
}

/** The address of a database that a file holds. Throws `invalid_request`, which names the flag, when it cannot be read. */
export async function addressIn(file: string, flag: string): Promise<string> {
  try {
    return (await Bun.file(file).text()).trim();
  } catch (error) {
    throw new AppError("invalid_request", `The file ${file} cannot be read: ${reasonOf(error)}.`, {
      hint: `Name a file with --${flag} that this user may read and that holds the address.`,
    });
  }
}
