import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { AppError } from "../../../domain/errors.ts";
import { reasonNotMade } from "../../../domain/system-error.ts";
import type { Io } from "../../../cli/io.ts";

/**
 * The text of a settings file with these variables set. Each takes the place of the line that sets
 * it, or else of the comment that shows it; all other lines stay as they are.
 */
export function withVariables(text: string, variables: ReadonlyMap<string, string>): string {
  const lines = text.replace(/\n$/, "").split("\n");
  for (const [name, value] of variables) {
    const assigned = `${name}=${value}`;
    const isSet = (line: string) => new RegExp(`^\\s*${name}\\s*=`).test(line);
    const isShown = (line: string) => new RegExp(`^#\\s*${name}=`).test(line);
    // The last assignment counts.
    const at = lines.findLastIndex(isSet);
    const place = at === -1 ? lines.findIndex(isShown) : at;
    if (place === -1) lines.push(assigned);
    else lines[place] = assigned;
  }
  return `${lines.join("\n")}\n`;
}

/**
 * Creates the settings file with `text` if there is none, and sets `variables` in it. Other lines
 * of an administrator stay. Throws `unavailable` when it cannot be written.
 */
export function putSettings(
  path: string,
  text: string,
  variables: ReadonlyMap<string, string>,
  io: Io,
): void {
  const before = existsSync(path) ? readFileSync(path, "utf8") : undefined;
  const after = withVariables(before ?? text, variables);
  // One that is there keeps its mode: it may hold the password of a database.
  if (after !== before) put(path, after, io, before === undefined);
}

/** Writes a file and says so; `isOpen` lets every user's commands read it. */
export function put(path: string, text: string, io: Io, isOpen = true): void {
  asRoot(path, "written", () => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    if (isOpen) chmodSync(path, 0o644);
  });
  io.out(`Wrote ${path}\n`);
}

/** Removes a file and says so. */
export function remove(path: string, io: Io): void {
  asRoot(path, "removed", () => rmSync(path));
  io.out(`Removed ${path}\n`);
}

function asRoot(path: string, done: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    throw new AppError("unavailable", `${path} cannot be ${done}: ${reasonNotMade(error)}.`, {
      cause: error,
      hint: "Run it as root: sudo rehome service install",
    });
  }
}
