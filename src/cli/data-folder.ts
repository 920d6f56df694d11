import type { Config } from "../config.ts";
import { AppError } from "../domain/errors.ts";
import { refuseMovedFolder } from "./moved.ts";

/**
 * The data folder of a command that works on files. Throws where the settings name a database
 * server instead, and where the store was moved elsewhere.
 */
export function dataFolder(config: Config, command: string): string {
  if (config.store !== undefined || config.storeFile !== undefined) {
    throw new AppError(
      "invalid_request",
      `rehome ${command} works on a data folder, and the settings name a PostgreSQL database.`,
      { hint: "Use pg_dump and pg_restore for it, or unset REHOME_STORE and REHOME_STORE_FILE." },
    );
  }
  refuseMovedFolder(config.data, config);
  return config.data;
}
