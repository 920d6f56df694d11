import type { SQL } from "bun";
import { editCount } from "../../storage/edits.ts";
import { sql } from "../../storage/statement.ts";
import { send } from "./engine.ts";

/** The database's own numbers: they rise with each change of a key, and of an animal. */
export interface PolledVersions {
  readonly epoch: number;
  readonly pets: number;
  /** Changes of animals that were more than additions. */
  readonly edits: number;
  /** By the database's clock. */
  readonly nowMs: number;
}

/** Reads the numbers in one snapshot. */
export async function readVersions(client: SQL): Promise<PolledVersions> {
  const [row] = (await send(client, numbers)) as unknown as [
    { epoch: bigint; pets: bigint; edits: bigint | null; nowMs: bigint },
  ];
  return {
    epoch: Number(row.epoch),
    pets: Number(row.pets),
    edits: Number(row.edits),
    nowMs: Number(row.nowMs),
  };
}

const numbers = sql`
  SELECT (SELECT epoch FROM rehome.key_epoch) AS epoch,
    (SELECT version FROM rehome.catalogue) AS pets,
    ${editCount} AS edits,
    ceil(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "nowMs"`;
