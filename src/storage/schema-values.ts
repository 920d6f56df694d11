/** What the tables of both databases have in common: values, and what their JSON holds. */
import { sql, type SQL } from "drizzle-orm";

/** Staff see animals, import and categories; operators see all. */
export const personRoles = ["staff", "operator"] as const;

/** What the service knows to do. A row of the schedule has one of these, never a command. */
export const jobKinds = ["pull", "backup"] as const;
export type JobKind = (typeof jobKinds)[number];

/** Who paused a job: a person; a person's undo of what it did; or a restore of the store. */
export const pauseReasons = ["person", "undo", "restore"] as const;

/** Whether a list has an animal: it may say that it is gone, or leave it out. */
export const listPresences = ["there", "gone", "left out"] as const;

/** What is known about a key, an animal or a change, as it was before or after. */
export type Snapshot = Record<string, unknown>;

export function oneOf(values: readonly string[]): SQL {
  return sql.raw(values.map((value) => `'${value}'`).join(", "));
}
