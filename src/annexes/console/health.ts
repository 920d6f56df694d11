import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { dataFolderOf, type EnvironmentVariables, type LoadedConfig } from "../../config.ts";
import { isoSeconds, type Clock } from "../../domain/clock.ts";
import type { Static } from "../../cli/json.ts";
import type { doctorSchema } from "../operate/doctor/command.ts";
import { commandJson } from "./command-json.ts";
import { download } from "./web/answer.ts";

/** Backups kept in the data folder: they are on the same disk, and meant to be downloaded. */
const keptBackups = 3;
const folderName = "console-backups";
const namePattern = /^rehome-[\dT-]+\.db$/;

interface BackupFile {
  readonly name: string;
  readonly bytes: number;
  readonly atMs: number;
}

export type HealthDesk = ReturnType<typeof openHealth>;

export function openHealth({ config }: LoadedConfig, env: EnvironmentVariables, clock: Clock) {
  const data = dataFolderOf(config);
  return {
    /** What `rehome doctor` finds. */
    async findings() {
      return ((await commandJson(["doctor"], env)) as Static<typeof doctorSchema>).checks;
    },
    /** Undefined where a database server keeps the data, and has its own tools. */
    backups: data === undefined ? undefined : backupsIn(join(data, folderName), env, clock),
  };
}

function backupsIn(folder: string, env: EnvironmentVariables, clock: Clock) {
  const list = (): BackupFile[] => {
    try {
      const names = readdirSync(folder, { withFileTypes: true }).filter(
        (entry) => entry.isFile() && namePattern.test(entry.name),
      );
      return names
        .map(({ name }) => {
          const { size, mtimeMs } = statSync(join(folder, name));
          return { name, bytes: size, atMs: mtimeMs };
        })
        .toSorted((a, b) => b.name.localeCompare(a.name));
    } catch {
      return [];
    }
  };
  return {
    /** Those that are there, newest first. */
    list,
    async make() {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const name = `rehome-${isoSeconds(clock()).replace(/[:Z]/g, "")}.db`;
      await commandJson(["backup", join(folder, name)], env);
      for (const { name: old } of list().slice(keptBackups)) rmSync(join(folder, old));
    },
    /** The file, or undefined if there is none of this name. */
    download(name: string) {
      const file = list().find((each) => each.name === name);
      if (file === undefined) return undefined;
      return download(Bun.file(join(folder, file.name)), file.name, "application/octet-stream");
    },
  };
}
