import type { Database } from "bun:sqlite";
import { int64Min } from "../../domain/int64.ts";
import type { PageQuery } from "../../domain/page.ts";
import type { Pet, PetStatus } from "../../domain/pet.ts";
import { petOfRow, type PetRow } from "../pet-row.ts";
import { translating } from "./database.ts";
import { countPets } from "./pet-writer.ts";
import { petTexts } from "./statements.macro.ts" with { type: "macro" };

const texts = petTexts();

/** Reads animals through statements prepared once. */
export function petReader(db: Database) {
  const page = db.prepare<PetRow, [after: bigint, limit: number]>(texts.page);
  const pageOfStatus = db.prepare<PetRow, [status: PetStatus, after: bigint, limit: number]>(
    texts.pageOfStatus,
  );
  const byId = db.prepare<PetRow, [id: bigint]>(texts.byId);

  return {
    page({ limit, status, after = int64Min }: PageQuery): Pet[] {
      const found = translating(() =>
        status === undefined ? page.all(after, limit) : pageOfStatus.all(status, after, limit),
      );
      return found.map(petOfRow);
    },
    byId(id: bigint): Pet | undefined {
      const row = translating(() => byId.get(id));
      return row === null ? undefined : petOfRow(row);
    },
    count: () => translating(() => countPets(db)),
  };
}
