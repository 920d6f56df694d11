import type { SQL } from "bun";
import { editCount } from "../../storage/store-state.ts";
import { row, sql } from "../../storage/statement.ts";
import { perform } from "./engine.ts";

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
  const { result: found } = await perform(client, row(numbers));
  if (found === undefined) throw new Error("the database's numbers have no row");
  return {
    epoch: Number(found.epoch),
    pets: Number(found.pets),
    edits: Number(found.edits),
    nowMs: Number(found.nowMs),
  };
}

const numbers = sql<{ epoch: bigint; pets: bigint; edits: bigint | null; nowMs: bigint }>`
  SELECT (SELECT epoch FROM rehome.key_epoch) AS epoch,
    (SELECT version FROM rehome.catalogue) AS pets,
    ${editCount} AS edits,
    ceil(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "nowMs"`;
