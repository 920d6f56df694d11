import type { SQL } from "bun";

/** The database's own numbers: they rise with each change of a key, and of an animal. */
export interface PolledVersions {
  readonly epoch: number;
  readonly pets: number;
  /** By the database's clock. */
  readonly nowMs: number;
}

/** Reads both numbers in one snapshot. */
export async function readVersions(sql: SQL): Promise<PolledVersions> {
  const [row] = (await sql`
    SELECT (SELECT epoch FROM rehome.key_epoch) AS epoch,
      (SELECT version FROM rehome.catalogue) AS pets,
      ceil(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "nowMs"`) as [
    { epoch: bigint; pets: bigint; nowMs: bigint },
  ];
  return { epoch: Number(row.epoch), pets: Number(row.pets), nowMs: Number(row.nowMs) };
}
