import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { annexSettings } from "../../../cli/options.ts";
import type { Io } from "../../../cli/io.ts";
import { variableOf } from "../../../config.ts";
import { put, remove } from "./settings-file.ts";
import { readEnvironmentFile } from "./unit.ts";
import { lowPort, settingsFile, unitFolder } from "./units.ts";

/** Ports below it need a right of their own (ip(7)). */
const unprivilegedPortMin = 1_024;

/** Gives the service in `root` the right to a low port, or takes it away with the port. */
export function setLowPort(root: string, port: number, io: Io): void {
  const path = join(root, unitFolder, lowPort.path);
  if (port < unprivilegedPortMin) return put(path, lowPort.text, io);
  // What somebody has changed is theirs.
  const isOurs = existsSync(path) && readFileSync(path, "utf8") === lowPort.text;
  if (isOurs && !hasOtherLowPort(root, io)) remove(path, io);
}

/** True when something else, such as the console, listens on a low port. */
function hasOtherLowPort(root: string, { annexes }: Io): boolean {
  const file = join(root, settingsFile.path);
  const variables = readEnvironmentFile(existsSync(file) ? readFileSync(file, "utf8") : "");
  return annexSettings(annexes).some((setting) => {
    const value = setting.parse(variables.get(variableOf(setting)) ?? "");
    const { port = unprivilegedPortMin } = (value ?? {}) as { port?: number };
    return port < unprivilegedPortMin;
  });
}
