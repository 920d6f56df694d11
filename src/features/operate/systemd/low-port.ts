import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { featureSettings } from "../../../cli/options.ts";
import { readSettingsFile } from "../../../cli/machine.ts";
import type { Io } from "../../../cli/io.ts";
import { settings, variableOf, type AnySetting } from "../../../config.ts";
import { put, remove } from "./settings-file.ts";
import { lowPort, settingsFile, unitFolder } from "./units.ts";

/** Ports below it need a right of their own (ip(7)). */
const unprivilegedPortMin = 1_024;

/**
 * Gives the service in `root` the right to low ports where it listens on one: on `given`, or as its
 * settings say. Takes the right away where it does not.
 */
export function setLowPort(root: string, given: number | undefined, io: Io): void {
  const path = join(root, unitFolder, lowPort.path);
  const file = join(root, settingsFile.path);
  const variables = existsSync(file) ? readSettingsFile(file) : new Map<string, string>();
  const valueOf = (setting: AnySetting) => setting.parse(variables.get(variableOf(setting)) ?? "");
  const port = given ?? (valueOf(settings.port) as number | undefined);
  // The console and the metrics have an address and a port.
  const others = featureSettings(io.features).map(
    (setting) => (valueOf(setting) as { port?: number } | undefined)?.port,
  );
  if ([port, ...others].some(isLow)) {
    if (isLow(given) || !existsSync(path)) put(path, lowPort.text, io);
    return;
  }
  // What somebody has changed is theirs.
  const isOurs = existsSync(path) && readFileSync(path, "utf8") === lowPort.text;
  if (isOurs && port !== undefined) remove(path, io);
}

/** True for a port that needs a right; 0 is any that is free. */
function isLow(port: number | undefined): boolean {
  return port !== undefined && port > 0 && port < unprivilegedPortMin;
}
