import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { EnvironmentVariables, LoadedConfig } from "../../config.ts";
import { isoSeconds, type Clock } from "../../domain/clock.ts";
import type { Finding } from "../operate/doctor/finding.ts";
import { commandJson } from "./program.ts";
import { download } from "./web/answer.ts";

/**
 * Backups that are kept in the data folder; older ones go. They are on the same disk, and meant to
 * be downloaded.
 */
const keptBackups = 3;
const folderName = "console-backups";
const namePattern = /^rehome-[\dT-]+\.db$/;

interface BackupFile {
  readonly name: string;
  readonly bytes: number;
  readonly atMs: number;
}

interface Backups {
  /** Those that are there, newest first. */
  list(): readonly BackupFile[];
  make(): Promise<void>;
  /** The file, or undefined if there is none of this name. */
  download(name: string): Response | undefined;
}

export interface HealthDesk {
  /** What `rehome doctor` finds. */
  findings(): Promise<readonly Finding[]>;
  /** Undefined where a database server keeps the data, and has its own tools. */
  readonly backups: Backups | undefined;
}

export function openHealth(
  { config }: LoadedConfig,
  env: EnvironmentVariables,
  clock: Clock,
): HealthDesk {
  const isFolder = config.store === undefined && config.storeFile === undefined;
  return {
    async findings() {
      const report = (await commandJson(["doctor"], env)) as {
        checks: readonly (Finding & { advice: string | null })[];
      };
      return report.checks.map(({ advice, ...finding }) => ({
        ...finding,
        ...(advice !== null && { advice }),
      }));
    },
    backups: isFolder ? backupsIn(join(config.data, folderName), env, clock) : undefined,
  };
}

function backupsIn(folder: string, env: EnvironmentVariables, clock: Clock): Backups {
  const list = (): BackupFile[] => {
    const names = readdirSync(folder, { withFileTypes: true }).filter(
      (entry) => entry.isFile() && namePattern.test(entry.name),
    );
    return names
      .map(({ name }) => {
        const { size, mtimeMs } = statSync(join(folder, name));
        return { name, bytes: size, atMs: mtimeMs };
      })
      .toSorted((a, b) => b.name.localeCompare(a.name));
  };
  const known = () => {
    try {
      return list();
    } catch {
      return [];
    }
  };
  return {
    list: known,
    async make() {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const name = `rehome-${isoSeconds(clock()).replace(/[:Z]/g, "")}.db`;
      await commandJson(["backup", join(folder, name)], env);
      for (const { name: old } of known().slice(keptBackups)) rmSync(join(folder, old));
    },
    download(name) {
      const file = known().find((each) => each.name === name);
      if (file === undefined) return undefined;
      return download(Bun.file(join(folder, file.name)), file.name, "application/octet-stream");
    },
  };
}
