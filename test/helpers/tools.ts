/** Other people's tools, from the package in tools/: the service is built without them. */
import { join } from "node:path";
import { finished, type CommandResult } from "./finished.ts";

const root = join(import.meta.dir, "../..");
export const toolsFolder = join(root, "tools");

let installed: Promise<void> | undefined;

/** Installs the tools at the versions of their lock file; a moment where they are there. */
export function installTools(): Promise<void> {
  installed ??= (async () => {
    const command = [process.execPath, "install", "--frozen-lockfile"];
    const { exitCode, stderr } = await finished(command, { cwd: toolsFolder });
    if (exitCode !== 0) throw new Error(`the tools could not be installed:\n${stderr}`);
  })();
  return installed;
}

/** Nothing is told to anybody, and nobody's newer version is asked for. */
const quiet = {
  REDOCLY_TELEMETRY: "off",
  REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
  ORVAL_TELEMETRY_DISABLED: "1",
  NO_COLOR: "1",
  FORCE_COLOR: "0",
};

/** Runs a tool under Node to its end. */
export async function runTool(name: string, ...args: string[]): Promise<CommandResult> {
  await installTools();
  return finished([join(toolsFolder, "node_modules/.bin", name), ...args], {
    cwd: toolsFolder,
    // Lighthouse looks for a browser there.
    env: { ...process.env, ...quiet, CHROME_PATH: "/usr/bin/chromium-headless-shell" },
  });
}
