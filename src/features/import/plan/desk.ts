/**
 * Who is right of an animal: the list that it comes from, or the people at the desk. Both change
 * it, so the list counts only where it says something else than it said last.
 */
import type { PetStatus } from "../../../domain/pet.ts";
import type { listPresences } from "../../../storage/schema.ts";

export type Presence = (typeof listPresences)[number];

/** An animal by what words mean here today. */
export interface Said {
  readonly presence: Presence;
  /** Null where it is not known. */
  readonly name: string | null;
  /** Its id here, or the name of one that is not made yet; null where it is not known. */
  readonly category: bigint | string | null;
  readonly status: PetStatus | null;
}

/** An animal as it is here. */
export interface Here {
  readonly isRemoved: boolean;
  readonly name: string;
  readonly category: bigint;
  readonly status: PetStatus | null;
}

export const listFields = ["name", "category", "status"] as const;
export type ListField = (typeof listFields)[number];

export interface Decision {
  readonly does: "nothing" | "changes" | "withdraws" | "returns";
  /** What becomes as the list says it. */
  readonly takes: readonly ListField[];
  /** What stays as people have it, though the list says otherwise. */
  readonly kept: readonly (ListField | "presence")[];
}

const nothing: Decision = { does: "nothing", takes: [], kept: [] };
const keepsPresence: Decision = { does: "nothing", takes: [], kept: ["presence"] };

/** Statuses by how far they are from adoption. One without a status is shown to nobody. */
const distances = { available: 0, pending: 1, none: 2, sold: 3 } as const;
export const isFurther = (status: PetStatus | null, than: PetStatus | null): boolean =>
  distances[status ?? "none"] > distances[than ?? "none"];

/**
 * What becomes of an animal: `last` is what the list said before, undefined where nobody knows.
 * With `listWins` the list is right whatever people did.
 */
export function decide(last: Said | undefined, now: Said, here: Here, listWins: boolean): Decision {
  const wasThere = last === undefined || last.presence === "there";
  if (now.presence !== "there") {
    if (here.isRemoved) return nothing;
    return wasThere || listWins ? { ...nothing, does: "withdraws" } : keepsPresence;
  }
  // Who was removed by a person stays so until the list has the animal anew.
  if (here.isRemoved && last?.presence === "there" && !listWins) return keepsPresence;
  const differing = listFields.filter((field) => now[field] !== here[field]);
  const takes = differing.filter((field) => listWins || isTaken(field, last, now, here));
  const kept = differing.filter((field) => !takes.includes(field));
  const does = here.isRemoved ? "returns" : takes.length > 0 ? "changes" : "nothing";
  return { does, takes, kept };
}

function isTaken(field: ListField, last: Said | undefined, now: Said, here: Here): boolean {
  // A stay that begins anew has the status that its list says.
  const isKnown = last !== undefined && last[field] !== null;
  if (here.isRemoved && (field === "status" || !isKnown)) return true;
  const isByList = last === undefined || last[field] !== now[field];
  const isByDesk = last === undefined || last[field] !== here[field];
  if (!isByList) return false;
  if (!isByDesk) return true;
  return field === "status" && isFurther(now.status, here.status);
}
