/** A list is read and understood; the store is not looked at yet. */
import { type Message, message } from "../messages.ts";
import { UnreadableInput } from "../read/input.ts";
import type { Input } from "../read/read.ts";
import {
  type Given,
  proposed,
  readFor,
  type Reading,
  understand,
  type Understanding,
} from "../understand/reading.ts";

/** A list whose records are understood; nothing of the store was looked at yet. */
export interface Prepared {
  readonly input: Pick<Input, "shape" | "notes" | "partial" | "bytes">;
  readonly reading: Reading;
  readonly isGuessed: boolean;
  readonly understanding: Understanding;
}

/** How it was read, with what words meant by their sense: it reads the next list the same way. */
export const confirmedReading = ({ reading, understanding }: Prepared): Reading => ({
  ...reading,
  statuses: { ...Object.fromEntries(understanding.stems), ...reading.statuses },
});

/** Reads and understands an input. Throws UnreadableInput, UnknownFormat among them. */
export async function prepare(bytes: Uint8Array, given: Given): Promise<Prepared> {
  const input = await readFor(bytes, given);
  const { reading, isGuessed } = proposed(input, given);
  return prepared(input, reading, { isGuessed });
}

/** The same by a reading that was confirmed before: nothing is guessed, and no stem is read. */
export async function prepareAgain(bytes: Uint8Array, reading: Reading): Promise<Prepared> {
  const input = await readFor(bytes, reading);
  return prepared(input, reading, { isGuessed: false, readsStems: false });
}

function prepared(
  input: Input,
  reading: Reading,
  { isGuessed, readsStems = true }: { readonly isGuessed: boolean; readonly readsStems?: boolean },
): Prepared {
  const understanding = understand(input, reading, { readsStems });
  const { shape, partial, bytes } = input;
  // What an export has without a status is as it was.
  const nobody = reading.format === "rehome" ? undefined : nobodyIn(understanding, reading);
  if (isGuessed && nobody !== undefined) {
    const [count = "", column = ""] = nobody.values;
    throw new UnreadableInput(0, message("noneGuessed", count, column));
  }
  const note = nobody && { said: nobody, records: 0, firstLine: 0, example: "" };
  const notes = note === undefined ? input.notes : [...input.notes, note];
  return { input: { shape, notes, partial, bytes }, reading, isGuessed, understanding };
}

/** What is said of a list of which no animal is for adoption; undefined if one is, or may be. */
function nobodyIn({ outcomes }: Understanding, reading: Reading): Message | undefined {
  const isOpen = outcomes.some(
    (each) =>
      (each.kind === "pet" && (each.status === "available" || each.status === "pending")) ||
      (each.kind === "reject" && each.unknownStatus !== undefined),
  );
  const count = outcomes.filter(({ kind }) => kind !== "reject").length;
  if (isOpen || count === 0) return undefined;
  const column =
    reading.columns?.status ?? (reading.format === "map" ? "the status of all" : reading.format);
  return message("noneForAdoption", String(count), column);
}
