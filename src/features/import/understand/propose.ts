/** How a list is to be read, and what is open about it: the same for every door. */
import { UnreadableInput } from "../read/input.ts";
import { type Part, partsIn } from "../read/read.ts";
import type { FieldMap } from "./map.ts";
import { type Given, prepare, type Prepared, type Reading, UnknownFormat } from "./reading.ts";
import type { Meaning } from "./words.ts";

export type { Given, Prepared, Reading } from "./reading.ts";

/** A word of a column whose meaning is asked for. */
export interface OpenWord {
  readonly word: string;
  readonly records: number;
}

/** What a list leaves open. A door shows all of them, and gives the answers in `Given`. */
export type Question =
  /** Which of several lists is meant: `sheet` or `records`. */
  | { readonly is: "part"; readonly parts: readonly Part[] }
  /** What the columns mean: `columns`. */
  | { readonly is: "columns" }
  /** Which kind of animal all are: `category`. */
  | { readonly is: "category" }
  /** Whether all are for adoption, as no column says so: `defaultStatus`. */
  | { readonly is: "status" }
  /** What words mean: `statuses`. Their records are bad until somebody says. */
  | { readonly is: "words"; readonly column: string; readonly words: readonly OpenWord[] }
  /** Whether a column means this, as it takes more than half of the available: `believed`. */
  | {
      readonly is: "column";
      readonly column: string;
      readonly meaning: Meaning;
      readonly records: number;
      readonly available: number;
    };

export interface Proposal {
  /** Undefined as long as a question other than for words is open. */
  readonly prepared: Prepared | undefined;
  readonly reading: Reading | undefined;
  /** True if columns or meanings were guessed: somebody has to agree. */
  readonly isGuessed: boolean;
  readonly open: readonly Question[];
  /** To choose the columns: their names, the first rows, and what they are thought to hold. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly guess: FieldMap;
  /** The first question as an error, for a place where nobody can answer. */
  readonly refusal: UnreadableInput | undefined;
}

/**
 * Reads a list, and says how it would be read and what is open. Throws UnreadableInput for what is
 * no list. `said` gives what is known of a list with these columns.
 */
export async function propose(
  bytes: Uint8Array,
  given: Given,
  said?: (columns: readonly string[]) => Promise<Given>,
): Promise<Proposal> {
  try {
    const prepared = await prepare(bytes, given, said);
    const { reading, isGuessed } = prepared;
    return {
      prepared,
      reading,
      isGuessed,
      open: wordsIn(prepared),
      columns: [],
      rows: [],
      guess: reading.columns ?? {},
      refusal: undefined,
    };
  } catch (error) {
    if (!(error instanceof UnreadableInput)) throw error;
    const open = questionOf(error);
    if (open === undefined) throw error;
    const nothing = { columns: [], rows: [], guess: {} };
    const { columns, rows, guess } = error instanceof UnknownFormat ? error : nothing;
    const base = { prepared: undefined, reading: undefined, isGuessed: true };
    return { ...base, open: [open], columns, rows, guess, refusal: error };
  }
}

/** The list as it is read. Throws its first question where one is open. */
export function preparedOf({ prepared, refusal }: Proposal): Prepared {
  if (prepared === undefined) throw refusal ?? new Error("a list without a reading or a question");
  return prepared;
}

function questionOf(error: UnreadableInput): Question | undefined {
  const parts = partsIn(error.problem);
  if (parts.length > 0) return { is: "part", parts };
  if (error.problem.code === "statusMissing") return { is: "status" };
  if (!(error instanceof UnknownFormat)) return undefined;
  if (error.open?.is !== "words") return error.open ?? { is: "columns" };
  const { column, words } = error.open;
  return { is: "words", column, words: words.map((word) => ({ word, records: 0 })) };
}

function wordsIn({ understanding }: Prepared): readonly Question[] {
  const columns = new Map<string, Map<string, number>>();
  for (const each of understanding.outcomes) {
    if (each.kind !== "reject" || each.unknownStatus === undefined) continue;
    const words = columns.getOrInsertComputed(each.field, () => new Map());
    words.set(each.unknownStatus, (words.get(each.unknownStatus) ?? 0) + 1);
  }
  return [...columns].map(([column, words]) => ({
    is: "words",
    column,
    words: [...words].map(([word, records]) => ({ word, records })),
  }));
}
