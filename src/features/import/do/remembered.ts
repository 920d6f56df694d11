/**
 * Readings that were confirmed, by the source and the header of their list: the next list is read
 * the same way, without any guess.
 */
import { like } from "drizzle-orm";
import type { Tx } from "../../../storage/database.ts";
import { deleteMeta, setMeta } from "../../meta.ts";
import { readingMeta } from "../../meta.ts";
import { fits, type Reading } from "../understand/propose.ts";

export interface Remembered {
  readonly reading: Reading;
  /** The header, to find the reading of a list that names no source. */
  readonly columns: readonly string[];
  /** True where the list is the whole one of its source. */
  readonly isWhole: boolean;
  readonly at: number;
}

/** More than anybody has: the oldest goes. */
const rememberedMax = 200;

/** All that is remembered, the last one first. */
export async function rememberedReadings(tx: Tx): Promise<readonly Remembered[]> {
  const { storeState } = tx.t;
  const rows = await tx
    .select()
    .from(storeState)
    .where(like(storeState.name, `${readingMeta}%`));
  return rows.map(({ value }) => JSON.parse(value) as Remembered).toSorted((a, b) => b.at - a.at);
}

/** How a list with these columns was read; of no named source, the last list with this header. */
export async function recallReading(
  tx: Tx,
  columns: readonly string[],
  source: string | undefined,
): Promise<Remembered | undefined> {
  const all = await rememberedReadings(tx);
  const header = JSON.stringify(columns);
  const isSame = (each: Remembered) => JSON.stringify(each.columns) === header;
  if (source === undefined) return all.find(isSame);
  const own = all.filter(({ reading }) => reading.source === source);
  return own.find(isSame) ?? own.find(({ reading }) => fits(reading, columns));
}

export async function rememberReading(tx: Tx, remembered: Remembered): Promise<void> {
  const all = await rememberedReadings(tx);
  for (const each of all.slice(rememberedMax - 1)) await deleteMeta(tx, nameOf(each));
  await setMeta(tx, nameOf(remembered), JSON.stringify(remembered));
}

export const forgetReading = (tx: Tx, remembered: Remembered): Promise<void> =>
  deleteMeta(tx, nameOf(remembered));

function nameOf({ reading: { source }, columns }: Remembered): string {
  const header = JSON.stringify([source, ...columns]);
  return `${readingMeta}${new Bun.CryptoHasher("sha256").update(header).digest("hex")}`;
}
