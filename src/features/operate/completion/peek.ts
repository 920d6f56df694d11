import { existsSync } from "node:fs";
import type { PlanName } from "../../../domain/plan.ts";
import { storeFiles } from "../../../storage/sqlite/files.ts";
import { examine } from "../../../storage/sqlite/inspect.ts";

/** Most values that are worth showing to somebody who is typing. */
const shownMax = 50;
/** Digits of the largest int64. */
const digitsMax = 19;

interface PeekedKey {
  readonly id: string;
  readonly name: string;
  readonly plan: PlanName;
}

interface PeekedPet {
  readonly id: bigint;
  readonly name: string;
}

/** The newest keys of a data folder. Changes nothing: a completion must not migrate. */
export function peekKeys(folder: string): PeekedKey[] {
  return peek(folder, (db) =>
    db
      .query<PeekedKey, []>(
        "SELECT id, name, plan FROM api_keys ORDER BY revoked_at_ms IS NOT NULL, created_at_ms DESC LIMIT 1000",
      )
      .all(),
  );
}

/** Animals whose id begins with `digits`, in the order of their ids. */
export function peekPets(folder: string, digits: string): PeekedPet[] {
  return peek(folder, (db) => {
    const between = db.query<{ id: number; name: string }, [bigint, bigint, number]>(
      "SELECT id, substr(name, 1, 60) AS name FROM pets WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?",
    );
    const found: PeekedPet[] = [];
    const first = digits === "" ? 1n : BigInt(digits);
    // 12 means 12, and 120 to 129, and 1200 to 1299 ...; without digits, all of them.
    const widths =
      digits === ""
        ? [digitsMax - 1]
        : Array.from({ length: digitsMax - digits.length }, (_, at) => at);
    for (const zeros of widths) {
      const span = 10n ** BigInt(zeros);
      const low = digits === "" ? 1n : first * span;
      const rows = between.all(low, low + span - 1n, shownMax - found.length);
      found.push(...rows.map(({ id, name }) => ({ id: BigInt(id), name })));
    }
    return found;
  });
}

function peek<T>(folder: string, look: Parameters<typeof examine<T[]>>[1]): T[] {
  const { catalogue } = storeFiles(folder);
  return existsSync(catalogue) ? examine(catalogue, look) : [];
}
