import type { SQL } from "bun";
import { sql } from "drizzle-orm";
import * as schema from "../../storage/schema.postgres.ts";
import { editCount } from "../../storage/store-state.ts";
import { send } from "./transaction.ts";

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
  const [found] = await send<Record<keyof PolledVersions, bigint>>(client, numbers);
  if (found === undefined) throw new Error("the database's numbers have no row");
  return {
    epoch: Number(found.epoch),
    pets: Number(found.pets),
    edits: Number(found.edits),
    nowMs: Number(found.nowMs),
  };
}

const numbers = sql`
  SELECT (SELECT epoch FROM ${schema.keyEpoch}) AS epoch,
    (SELECT version FROM ${schema.catalogue}) AS pets,
    coalesce(${editCount(schema)}, 0) AS edits,
    ceil(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "nowMs"`;
