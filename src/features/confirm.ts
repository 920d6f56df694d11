import { UsageError } from "./usage-error.ts";
import type { Io } from "../cli/io.ts";

interface ConfirmOptions {
  /** True when the operator said `--yes`. */
  readonly yes: boolean;
  /**
   * What happens without a terminal. `refuse` requires `--yes`; `proceed` is for emergencies, which
   * must work in a script.
   */
  readonly unattended: "refuse" | "proceed";
  /** Why it is asked, as the beginning of a sentence. */
  readonly why?: string;
}

/** True for an answer that agrees. */
export function isYes(answer: string): boolean {
  return /^\s*y(?:es)?\s*$/i.test(answer);
}

/** Asks before something that is not easily undone. Throws unless the answer is yes. */
export async function confirm(io: Io, question: string, options: ConfirmOptions): Promise<void> {
  if (options.yes) return;
  if (!io.canAsk) {
    if (options.unattended === "proceed") return;
    const { why = "This cannot be undone" } = options;
    throw new UsageError(
      `${why}, and there is no terminal to ask on.`,
      "Add --yes if you are sure.",
    );
  }
  const answer = await io.ask(`${question} [y/N] `);
  if (!isYes(answer)) throw new Error("Nothing was changed.");
}
