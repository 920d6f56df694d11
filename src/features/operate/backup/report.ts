import { statSync } from "node:fs";
import type { Counts } from "../../../storage/sqlite/backup.ts";

export interface BackupReport {
  readonly file: string;
  readonly bytes: number;
  readonly animals: number;
  readonly keys: number;
}

export function report(file: string, rows: Counts): BackupReport {
  return {
    file,
    bytes: statSync(file).size,
    animals: rows.get("pets") ?? 0,
    keys: rows.get("api_keys") ?? 0,
  };
}
