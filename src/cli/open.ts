import { existsSync } from "node:fs";
import { defaultDataFolder, serviceDataFolder, type Config } from "../config.ts";
import { systemClock } from "../domain/clock.ts";
import { AppError } from "../domain/errors.ts";
import { catalogueFile, inMemory, openStore, type StoreObserver } from "../service/open-store.ts";
import { createServices, type Services } from "../service/services.ts";
import type { Io } from "./io.ts";

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
  const folder = config.data ?? inMemory;
  const address = await storeAddress(config);
  const store = await openStore({
    address,
    folder,
    clock: systemClock,
    random: Math.random,
    timeoutMs: config.storeTimeoutMs,
    serving: options.serving,
    onProblem: options.onError,
    onBackup: (file) =>
      io.err(`The schema is brought up to date; the catalogue as it was is kept in ${file}.\n`),
    ...options.observer,
  });
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

/** Runs `work` on the store for one command, and closes it whatever happens. */
export async function withServices<T>(
  config: Config,
  io: Io,
  work: (services: Services) => Promise<T>,
): Promise<T> {
  refuseStray(config, io, serviceDataFolder);
  const services = await openServices(config, io, {
    serving: false,
    onError(error) {
      throw error;
    },
  });
  try {
    return await work(services);
  } finally {
    await services.close();
  }
}

/**
 * Throws where nobody named a folder, the user's own holds no catalogue, and the machine's service keeps one: a key made in
 * a new catalogue would be a key to nothing, and the data would seem lost.
 */
export function refuseStray(config: Config, io: Io, serviceFolder: string): void {
  const { data: folder = inMemory, store, storeFile } = config;
  if (store !== undefined || storeFile !== undefined || folder === serviceFolder) return;
  if (folder !== defaultDataFolder(io.env) || existsSync(catalogueFile(folder))) return;
  if (!existsSync(serviceFolder)) return;
  throw new AppError(
    "invalid_request",
    `There is no catalogue in ${folder}, and the service of this machine keeps its own in ${serviceFolder}.`,
    {
      hint: `Add --data ${serviceFolder}, as the user of the service (sudo -u rehome); or name the other folder with --data.`,
    },
  );
}

/** The address of the database that the settings name, or undefined when they name a folder. */
export async function storeAddress({ store, storeFile }: Config): Promise<string | undefined> {
  if (storeFile === undefined) return store;
  let text: string;
  try {
    text = await Bun.file(storeFile).text();
  } catch (error) {
    throw new AppError(
      "invalid_request",
      `The file ${storeFile} cannot be read: ${(error as Error).message}.`,
      { hint: "Name a file with --store-file that this user may read and that holds the address." },
    );
  }
  return text.trim();
}
