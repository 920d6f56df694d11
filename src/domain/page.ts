import type { PetStatus } from "./pet.ts";

export const pageLimit = { min: 1, max: 100, default: 20 } as const;

/** One page of the list: ascending ids above `after`, of one status or of all. */
export interface PageQuery {
  readonly limit: number;
  readonly status?: PetStatus | undefined;
  readonly after?: bigint | undefined;
}

const plainDecimal = /^(?:0|[1-9]\d*)$/;

/** The page limit in `text`, a plain decimal integer; undefined if it is none or out of bounds. */
export function parsePageLimit(text: string): number | undefined {
  if (!plainDecimal.test(text)) return undefined;
  const limit = Number(text);
  return limit >= pageLimit.min && limit <= pageLimit.max ? limit : undefined;
}

export function nextPageQuery(query: PageQuery, lastId: bigint): string {
  const status = query.status === undefined ? "" : `&status=${query.status}`;
  return `limit=${query.limit}${status}&after=${lastId}`;
}
