import type { Feature } from "../feature.ts";
import {
  settings,
  shownValue,
  type EnvironmentVariables,
  type LoadedConfig,
  type ServiceVariable,
} from "../config.ts";
import { AppError, shellWord } from "../domain/errors.ts";
import { accountNamed, type SystemAccount } from "../storage/system-account.ts";
import type { Io } from "./io.ts";

/** The service of this machine, as far as its unit and its settings say. */
export interface MachineService {
  /** The file to change its settings in. */
  readonly file: string;
  /** The `REHOME_` variables that it is started with. */
  readonly variables: ReadonlyMap<string, ServiceVariable>;
  /** The account that it works as; undefined if unknown, and for a unit of one's own. */
  readonly account: SystemAccount | undefined;
}

/** What a command may know of the machine that it runs on, and do there. */
export interface Machine {
  /** The user that this process runs as; undefined on a system without such numbers. */
  readonly uid: number | undefined;
  /** The machine's service, if any. Throws AppError when its settings cannot be read. */
  service(): MachineService | undefined;
  /** Goes on as `account` for good. Only root can. */
  become(account: SystemAccount): void;
  /** The name of the account that `become` changed to. */
  readonly actsAs?: string | undefined;
}

/** The machine of this process. Its service is the one that a feature finds. */
export function machineOf(features: readonly Feature[], env: EnvironmentVariables): Machine {
  let actsAs: string | undefined;
  return {
    uid: process.geteuid?.(),
    service: () =>
      features
        .values()
        .map(({ findService }) => findService?.(env, process.geteuid?.()))
        .find((service) => service !== undefined),
    become(account) {
      become(account);
      actsAs = account.name;
    },
    get actsAs() {
      return actsAs;
    },
  };
}

/**
 * Makes this process work as `account` for good: its user, its group and the groups that it is a
 * member of. Only root can, and what root opened before stays open.
 */
function become({ name, uid, gid }: SystemAccount): void {
  // Bun's types lack it.
  const { initgroups } = process as { initgroups?: (user: string, group: number) => void };
  const hasName = accountNamed(name) !== undefined;
  if (hasName && initgroups !== undefined) initgroups(name, gid);
  else process.setgroups?.([gid]);
  process.setgid?.(gid);
  process.setuid?.(uid);
}

/**
 * Changes to the account of the service whose store is about to be opened. Only root can; other
 * users get the command to type, with `words` after the program's name.
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
    `The service of this machine keeps its data in ${placeOf(loaded)}, which belongs to the account ${account.name}.`,
    {
      hint: `sudo ${["rehome", ...words].map(shellWord).join(" ")}`,
    },
  );
}

/** Prints on a terminal that the service's settings apply, because nobody typed them. */
export function sayService({ file, account }: MachineService, io: Io): void {
  if (!io.talkIsTerminal) return;
  const { uid } = io.machine;
  const as = account === undefined || account.uid === uid ? "" : `, as ${account.name}`;
  io.err(`On the service of this machine: settings from ${file}${as}.\n`);
}

/** The folder or the database that the settings name, without a password. */
export function placeOf({ config, loadedOf }: LoadedConfig): string {
  if (config.storeFile !== undefined) return `the database of ${config.storeFile}`;
  if (config.store === undefined) return config.data;
  return String(shownValue(loadedOf(settings.store)));
}
