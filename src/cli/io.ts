import type { Feature } from "../feature.ts";
import type { EnvironmentVariables } from "../config.ts";
import { AppError } from "../domain/errors.ts";
import { reasonOf } from "../domain/system-error.ts";
import { userName, type Machine } from "./machine.ts";

/** The outside of the command line: all that a command may use beside the store. */
export interface Io {
  readonly features: readonly Feature[];
  readonly env: EnvironmentVariables;
  /** True when standard output is a terminal, and a person reads it. */
  readonly isTerminal: boolean;
  /** True when standard error is one, where progress may be drawn and the log is for a person. */
  readonly stderrIsTTY: boolean;
  /** Width in cells of what is read: the terminal's, or 80. */
  readonly columns: number;
  /** True when there is a person who sees a question and can answer it. */
  readonly canAsk: boolean;
  readonly machine: Machine;
  readonly actor: string;
  /** Data: what a script would read. Written when it returns. */
  out(text: string): void;
  /** Unbounded data: resolves when it is written, so that the reader sets the pace. */
  write(text: string): Promise<void>;
  input(): AsyncIterable<Uint8Array>;
  /** Asks a question and resolves with the line that was typed; "" when there is none. */
  ask(question: string): Promise<string>;
  /** Messages for the operator, apart from the data. Controls in them are shown as escapes. */
  err(text: string): void;
  /** Draws on the operator's terminal: text that may move the cursor. */
  draw(text: string): void;
  /** Hears the signals from now on. Until then each of them ends the process at once. */
  hearSignals(): Signals;
}

export interface Signals {
  readonly stop: AbortSignal;
  /** Calls `listener` at each SIGHUP that is no closed terminal. */
  onReload(listener: () => void): void;
}

/** Writes what nobody need read, such as what a server says of its start. */
export function announce(io: Io, text: string): Promise<void> {
  return io.write(text).catch(() => undefined);
}

/**
 * Writes what is shown only once. Throws `unavailable` with `hint`, which makes another, when it
 * cannot be written: the store has the new one already.
 */
export async function writeSecret(io: Io, text: string, hint: string): Promise<void> {
  try {
    await io.write(text);
  } catch (error) {
    const { cause = error } = error as Error;
    const message = `The secret is lost, because standard output cannot be written: ${reasonOf(cause)}.`;
    throw new AppError("unavailable", message, { cause, hint });
  }
}

/** Resolves once `signal` is aborted, such as `Signals.stop`. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise;
}

/** Who is at the keyboard: the user behind sudo, else the user with this id. */
export function actorOf(env: EnvironmentVariables, uid: number | undefined): string {
  const behindSudo = env["SUDO_USER"];
  if (behindSudo !== undefined && behindSudo !== "") return behindSudo;
  return uid === undefined ? "unknown" : userName(uid);
}

/** Set for each of several processes at one address: its number, from 0. They share the port. */
export const memberVariable = "SUPERVISOR_MEMBER";

export const isMember = (env: EnvironmentVariables) => env[memberVariable] !== undefined;

/** Set for a process that starts beside others: it may not change the store under them. */
export const joinsVariable = "SUPERVISOR_JOINS";

export const joins = (env: EnvironmentVariables) => env[joinsVariable] !== undefined;

/** True for a process that serves alone, and for the first of several: it warns for all. */
export const warns = (env: EnvironmentVariables) => ["0", undefined].includes(env[memberVariable]);
