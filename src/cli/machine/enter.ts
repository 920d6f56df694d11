import { settings, shownValue, type LoadedConfig } from "../../config.ts";
import { AppError } from "../../domain/errors.ts";
import { shellWord } from "../../domain/shell-word.ts";
import type { Io } from "../io.ts";
import type { MachineService } from "./service.ts";

/**
 * Goes over to the account of the service whose store is about to be opened. Root changes to it;
 * anybody else is refused with the command to type, of which `words` stand behind the program's
 * name.
 */
export function enterService(
  service: MachineService,
  loaded: LoadedConfig,
  words: readonly string[],
  io: Io,
): void {
  const { account } = service;
  const { uid } = io.machine;
  if (account === undefined || uid === undefined || uid === account.uid) return;
  if (uid === 0) return io.machine.become(account);
  throw new AppError(
    "unavailable",
    `The service of this machine keeps its data in ${placeOf(loaded)}, which is for the account ${account.name}.`,
    {
      hint: `sudo ${["rehome", ...words].map(shellWord).join(" ")}`,
    },
  );
}

/** Says at a terminal that the service's settings hold, which nobody typed. */
export function sayService({ file, account }: MachineService, io: Io): void {
  if (!io.talkIsTerminal) return;
  const { uid } = io.machine;
  const as = account === undefined || account.uid === uid ? "" : `, as ${account.name}`;
  io.err(`On the service of this machine: settings from ${file}${as}.\n`);
}

function placeOf({ config, all }: LoadedConfig): string {
  if (config.store === undefined && config.storeFile === undefined) return config.data;
  const store = all.find(({ setting, value }) => setting === settings.store && value !== undefined);
  return store === undefined ? `the database of ${config.storeFile}` : String(shownValue(store));
}
