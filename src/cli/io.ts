import type { EnvironmentVariables } from "../config.ts";

/** The outside of the command line: what a command may touch besides the store. Tests hand in their own. */
export interface Io {
  readonly env: EnvironmentVariables;
  /** True when standard output is a terminal, and a person reads it. */
  readonly isTerminal: boolean;
  /** True when standard error is one, where progress may be drawn. */
  readonly talkIsTerminal: boolean;
  /** The person at the keyboard, for the events that a change leaves. */
  readonly actor: string;
  /** Data: what a script would read. */
  out(text: string): void;
  /** Data without bound: resolves when it is handed on, so that the one who reads it sets the pace. */
  write(text: string): Promise<void>;
  /** Standard input. */
  input(): AsyncIterable<Uint8Array>;
  /** Talk: what a person reads beside the data. */
  err(text: string): void;
  /** Aborted when the process is asked to stop. */
  readonly stop: AbortSignal;
}

/** One JSON document on standard output: the contract of `--json`. */
export function printJson(io: Io, value: unknown): void {
  io.out(`${JSON.stringify(value, null, 2)}\n`);
}

/** Rows as columns that line up, without a line that wraps more than it must. */
export function printTable(
  io: Io,
  header: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  const widths = header.map((title, column) =>
    Math.max(...[header, ...rows].map((row) => Bun.stringWidth(row[column] ?? title))),
  );
  for (const row of [header, ...rows]) {
    const cells = row.map((cell, column) => {
      const padding = (widths[column] ?? 0) - Bun.stringWidth(cell);
      return column === row.length - 1 ? cell : cell + " ".repeat(padding);
    });
    io.out(`${cells.join("  ").trimEnd()}\n`);
  }
}
