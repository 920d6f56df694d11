import { mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Config, dataFolderOf, type EnvironmentVariables } from "../../config.ts";
import type { Static } from "../../cli/json.ts";
import { AppError } from "../../domain/errors.ts";
import { readName } from "../operate/backup/names.ts";
import type { doctorSchema } from "../operate/doctor/command.ts";
import { program } from "../child.ts";
import { download } from "./pages/page.ts";

/** Backups kept in the data folder: they are on the same disk, and meant to be downloaded. */
const keptBackups = 3;
const folderName = "console-backups";

interface BackupFile {
  readonly name: string;
  readonly bytes: number;
  readonly atMs: number;
}

export type Health = ReturnType<typeof openHealth>;

/** `env` names the store to commands. */
export function openHealth(config: Config, env: EnvironmentVariables) {
  const data = dataFolderOf(config);
  return {
    /** What `rehome doctor` finds. */
    async findings() {
      return ((await commandJson(["doctor"], env)) as Static<typeof doctorSchema>).checks;
    },
    /** Undefined where a database server keeps the data, and has its own tools. */
    backups: data === undefined ? undefined : backupsIn(join(data, folderName), env),
  };
}

function backupsIn(folder: string, env: EnvironmentVariables) {
  let making: Promise<unknown> | undefined;
  const list = (): BackupFile[] => {
    try {
      const names = readdirSync(folder, { withFileTypes: true }).filter(
        (entry) => entry.isFile() && readName(entry.name) !== undefined,
      );
      return names
        .map(({ name }) => {
          const { size, mtimeMs } = statSync(join(folder, name));
          return { name, bytes: size, atMs: mtimeMs };
        })
        .toSorted((a, b) => b.atMs - a.atMs);
    } catch {
      return [];
    }
  };
  return {
    /** Those that are there, newest first. */
    list,
    /** Makes one, or waits for the one that is being made. The oldest of too many goes. */
    async make() {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      making ??= commandJson(["backup", folder, "--keep", String(keptBackups)], env).finally(() => {
        making = undefined;
      });
      await making;
    },
    /** The file, or undefined if there is none of this name. */
    download(name: string) {
      const file = list().find((each) => each.name === name);
      if (file === undefined) return undefined;
      return download(Bun.file(join(folder, file.name)), file.name, "application/octet-stream");
    },
  };
}

/**
 * Runs a command of this program with `--json` in a process of its own, so that nobody waits for
 * it, and returns what it printed. A command that failed after it printed its document is as good
 * as one that did not. Throws `unavailable`.
 */
async function commandJson(words: readonly string[], env: EnvironmentVariables): Promise<unknown> {
  const child = Bun.spawn([...program(), ...words, "--json"], {
    env: { ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, talk] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  await child.exited;
  if (output !== "") return JSON.parse(output);
  const message = talk.replace(/^Error: /, "").trim();
  throw new AppError("unavailable", message === "" ? "The command printed nothing." : message);
}
