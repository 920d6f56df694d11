import { constants, statSync } from "node:fs";
import { dataFolderOf, type Config } from "../config.ts";
import { systemClock } from "../domain/clock.ts";
import { AppError } from "../domain/errors.ts";
import { reasonOf } from "../domain/system-error.ts";
import type { AddressLimiter } from "../service/anonymous.ts";
import { openStore, type StoreObserver } from "../service/open-store.ts";
import { createServices, type Services } from "../service/services.ts";
import type { Store } from "../storage/contract.ts";
import { movedTo } from "../storage/store-state.ts";
import { inMemory, storeFiles } from "../storage/sqlite/files.ts";
import { requireFolder } from "../storage/sqlite/folder.ts";
import type { Io } from "./io.ts";
import { messageOf } from "./errors.ts";

export const randomBytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));

/** A random number from 0 to 1. */
export const randomShare = () => (randomBytes(1)[0] ?? 0) / 255;

interface OpenOptions {
  /** True for a server: nothing may block its thread. */
  readonly serving: boolean;
  /** True for what may update the schema of a store beside a server: `rehome migrate`. */
  readonly migrates?: boolean;
  readonly observer?: StoreObserver | undefined;
  readonly addresses?: AddressLimiter | undefined;
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
      timeoutMs: config.storeTimeoutMs,
      serving: options.serving,
      mayMigrate: options.serving || options.migrates === true,
      hasPeers: config.reusePort,
      onProblem: options.onError,
      onBackup: (file) => io.err(`Updated the schema; the old database is kept in ${file}.\n`),
      ...options.observer,
    },
    io.features.flatMap(({ stores = [] }) => stores),
  );
  await using opened = new AsyncDisposableStack();
  opened.defer(() => store.close());
  await refuseMoved(store, config);
  opened.move();
  return createServices(store, {
    environment: config.environment,
    clock: systemClock,
    randomBytes,
    actor: options.serving ? "server" : io.actor,
    anonymousPerMinute: config.anonymousPerMinute,
    addresses: options.addresses,
    bans: config.bans === "on",
    onError: options.onError,
  });
}

/** Throws for a store that was moved, and says where, unless the settings mean the old one. */
export async function refuseMoved(store: Store, config: Pick<Config, "movedStore">): Promise<void> {
  if (config.movedStore) return;
  const place = await store.db.read(movedTo);
  if (place !== undefined) throw movedStore(store.place, place);
}

/** The error of work on a store that was moved. */
export function movedStore(from: string, to: string): AppError {
  return new AppError("unavailable", `The store in ${from} was moved to ${to}.`, {
    hint: "Work there. Nobody is served from the old copy; --moved-store opens it anyway.",
  });
}

/** What a command does where there is no catalogue yet. */
export interface Beginning {
  /** True for a command that adds something, and so may begin a catalogue. */
  readonly begins?: boolean;
  /** True if it only says what it would add: it begins a catalogue in memory. */
  readonly rehearses?: boolean;
}

/** Runs `work` on the store for one command, and closes it whatever happens. */
export async function withServices<T>(
  config: Config,
  io: Io,
  work: (services: Services) => Promise<T>,
  beginning: Beginning = {},
): Promise<T> {
  refuseStray(config, beginning);
  const isRehearsal = beginning.rehearses === true && !mayHoldCatalogue(config);
  if (isRehearsal) {
    io.err(`There is no catalogue in ${config.data} yet; this would create one.\n`);
  }
  const services = await openServices(isRehearsal ? { ...config, data: inMemory } : config, io, {
    serving: false,
    onError: (error) => io.err(`Warning: ${messageOf(error)}\n`),
  });
  await using opened = new AsyncDisposableStack();
  opened.defer(() => services.close());
  return await work(services);
}

/** Throws where there is no catalogue: a misspelt folder would get an empty one. */
export function refuseStray(config: Config, { begins = false }: Beginning): void {
  if (mayHoldCatalogue(config)) return;
  const folder = config.data;
  if (begins) return;
  requireFolder(folder, constants.X_OK);
  throw new AppError("not_found", `There is no catalogue in ${folder}.`, {
    hint: "Name the data folder with --data. To create one there: rehome serve, or rehome keys create.",
  });
}

/** False only if there is certainly no catalogue. Opening it reports what cannot be read. */
function mayHoldCatalogue(config: Config): boolean {
  const folder = dataFolderOf(config);
  if (folder === undefined || folder === inMemory) return true;
  try {
    return statSync(storeFiles(folder).catalogue, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

/** The address of the database that the settings name, or undefined when they name a folder. */
export async function storeAddress({ store, storeFile }: Config): Promise<string | undefined> {
  return storeFile === undefined ? store : addressIn(storeFile, "store-file");
}

/** The address in a file. Throws `invalid_request`, with the flag, when it cannot be read. */
export async function addressIn(file: string, flag: string): Promise<string> {
  let text: string;
  try {
    text = (await Bun.file(file).text()).trim();
  } catch (error) {
    throw new AppError("invalid_request", `The file ${file} cannot be read: ${reasonOf(error)}.`, {
      cause: error,
      hint: `Name a file with --${flag} that this user may read and that holds the address.`,
    });
  }
  if (!/[\r\n]/.test(text)) return text;
  throw new AppError("invalid_request", `The file ${file} has more than one line.`, {
    hint: "Leave only the line with the address in it.",
  });
}
