import type { Clock } from "../../domain/clock.ts";
import { AppError } from "../../domain/errors.ts";
import type { Engine } from "../../storage/contract.ts";
import { changeAnimals, type Steps } from "../../storage/statement.ts";
import { type By, newChange } from "./statements/changes.ts";

/** Told the number of a change that was made. A change that changed nothing is not kept. */
export type OnChange = (change: bigint) => void;

/** In which store animals and categories are changed, when, and by whom. */
export interface Editing {
  readonly store: Engine;
  readonly clock: Clock;
  /** Is kept as the author of the changes. */
  readonly actor: string;
  readonly onChange?: OnChange | undefined;
}

export function authorOf({ actor, clock }: Editing): By {
  return { actor, nowMs: clock() };
}

/** Runs `work` as one change in one transaction. `patient` is that of the store's `transact`. */
export async function changing<T>(
  editing: Editing,
  action: string,
  work: (change: bigint, by: By) => Steps<T>,
  options: { readonly patient?: boolean } = {},
): Promise<T> {
  const by = authorOf(editing);
  let change = 0n;
  const result = await editing.store.transact(function* () {
    yield* changeAnimals();
    change = yield* newChange(action, by);
    return yield* work(change, by);
  }, options);
  editing.onChange?.(change);
  return result;
}

/** The error of work that ended half-way: what ended (`what`), why, and what remains. */
export function brokenOff(what: string, error: unknown, consequence: string): AppError {
  if (!(error instanceof AppError)) {
    const message = `${what} broke off (${(error as Error).message}). ${consequence}`;
    return new AppError("unavailable", message, { cause: error });
  }
  const { kind, explained, hint } = error;
  const advice = hint === undefined ? {} : { hint };
  return new AppError(kind, `${explained} ${consequence}`, { cause: error, ...advice });
}
