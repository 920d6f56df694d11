import { constants, statSync } from "node:fs";
import type { Io } from "../cli/io.ts";
import { openServices } from "../cli/open.ts";
import { dataFolderOf, type Config } from "../config.ts";
import { giveRoom } from "./keys/spare-room.ts";
import { AppError, messageOf } from "../domain/errors.ts";
import type { Services } from "../service/services.ts";
import { inMemory, storeFiles } from "../storage/sqlite/files.ts";
import { requireFolder } from "../storage/sqlite/folder.ts";

/** What a command does where there is no catalogue yet. */
export interface Beginning {
  /** True for a command that adds something, and so may begin a catalogue. */
  readonly begins?: boolean;
  /** True if it only says what it would add: it begins a catalogue in memory. */
  readonly dryRun?: boolean;
  /** True for a command that must work on a full disk. */
  readonly usesRoom?: boolean;
}

/** Runs `work` on the store for one command, and closes it whatever happens. */
export async function withServices<T>(
  config: Config,
  io: Io,
  work: (services: Services) => Promise<T>,
  beginning: Beginning = {},
): Promise<T> {
  refuseStray(config, beginning);
  const isInMemory = beginning.dryRun === true && !mayHoldCatalogue(config);
  if (isInMemory) {
    io.err(`There is no catalogue in ${config.data} yet; this would create one.\n`);
  }
  const open = () =>
    openServices(isInMemory ? { ...config, data: inMemory } : config, io, {
      serving: false,
      onError: (error) => io.err(`Warning: ${messageOf(error)}\n`),
    });
  const services = await open().catch((error: unknown) => {
    if (beginning.usesRoom !== true || !giveRoom(config.data)) throw error;
    return open();
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
