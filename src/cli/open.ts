import type { Config } from "../config.ts";
import { systemClock } from "../domain/clock.ts";
import { AppError } from "../domain/errors.ts";
import { reasonOf } from "../domain/system-error.ts";
import { createServices, type Services } from "../service/services.ts";
import type { Store } from "../storage/contract.ts";
import { openSqliteStore, type SqliteOptions } from "../storage/sqlite/store.ts";
import { movedTo } from "../storage/database.ts";
import { type Io, joins } from "./io.ts";

export const randomBytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));

export interface StoreObserver extends Pick<SqliteOptions, "onCommit" | "onBusy"> {
  readonly onBan?: () => void;
}

interface OpenOptions {
  /** True for a server: nothing may block its thread. */
  readonly serving: boolean;
  readonly observer?: StoreObserver | undefined;
  readonly onError: (error: unknown) => void;
}

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
      mayMigrate: options.serving && !joins(io.env),
      onProblem: options.onError,
      onBackup: (file) => io.err(`Updated the schema; the old database is kept in ${file}.\n`),
      ...options.observer,
    },
    io,
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
    bans: config.bans === "on",
    onError: options.onError,
    onBan: options.observer?.onBan,
  });
}

/** Opens the store at `address`, or the folder of `options`. Throws AppError if it cannot be. */
export async function openStore(
  address: string | undefined,
  options: SqliteOptions,
  { features }: Pick<Io, "features">,
): Promise<Store> {
  if (address === undefined) return openSqliteStore(options);
  for (const { openAddress } of features) if (openAddress) return openAddress(address, options);
  throw new AppError("invalid_request", "This program keeps its data in a folder only.", {
    hint: "Name the folder with --data, and leave out --store and --store-file.",
  });
}

/** Throws for a store that was moved, and says where, unless the settings mean the old one. */
export async function refuseMoved(store: Store, config: Pick<Config, "movedStore">): Promise<void> {
  if (config.movedStore) return;
  const place = await store.db.read(movedTo);
  if (place !== undefined) throw movedStore(store.place, place);
}

export function movedStore(from: string, to: string): AppError {
  return new AppError("unavailable", `The store in ${from} was moved to ${to}.`, {
    hint: "Work there. Nobody is served from the old copy; --moved-store opens it anyway.",
  });
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
  } catch (cause) {
    const message = `The file ${file} cannot be read: ${reasonOf(cause)}.`;
    const hint = `Name a file with --${flag} that this user may read and that holds the address.`;
    throw new AppError("invalid_request", message, { cause, hint });
  }
  if (!/[\r\n]/.test(text)) return text;
  throw new AppError("invalid_request", `The file ${file} has more than one line.`, {
    hint: "Leave only the line with the address in it.",
  });
}
