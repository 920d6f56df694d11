import { AppError } from "../domain/errors.ts";

export interface Migration {
  readonly tag: string;
  /** SHA-256 of the SQL, so that an edited migration is noticed. */
  readonly hash: string;
  readonly sql: string;
}

export function migration(tag: string, sql: string): Migration {
  return { tag, hash: new Bun.CryptoHasher("sha256").update(sql).digest("hex"), sql };
}

export type AppliedMigration = Pick<Migration, "tag" | "hash">;

export function olderSchema(database: string): AppError {
  return new AppError("unavailable", `${database} has an older schema than this program.`, {
    hint: "Restart the service with this program. The older program still works with it.",
  });
}

/**
 * The migrations that `database` (its name in messages) still lacks, after its history was compared
 * with ours position by position. Throws `unavailable` when a newer program made it or when its
 * history is another one than ours.
 */
export function pendingAfter(
  applied: readonly AppliedMigration[],
  ours: readonly Migration[],
  database: string,
): Migration[] {
  const refused = (why: string, hint: string) =>
    new AppError("unavailable", `${database} ${why}.`, { hint });
  applied.forEach(({ tag, hash }, position) => {
    const known = ours[position];
    if (known === undefined) {
      throw refused(
        `was made by a newer rehome (its schema has ${tag}, which this program does not know)`,
        "Start the newer program, or restore the backup from before it changed the schema.",
      );
    }
    if (known.tag !== tag || known.hash !== hash) {
      const hint = "Start the program that made it, or restore a backup.";
      throw refused(`has another schema history than this program (at ${tag})`, hint);
    }
  });
  return ours.slice(applied.length);
}
