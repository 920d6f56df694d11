import {
  type Given,
  prepare,
  propose,
  readList,
} from "../../../src/features/import/understand/propose.ts";
import { messageText } from "../../../src/features/import/messages.ts";
import { UnreadableInput } from "../../../src/features/import/read/input.ts";
import type { Outcome } from "../../../src/features/import/understand/record.ts";

export function bytesOf(input: string | Uint8Array): Uint8Array {
  return typeof input === "string" ? new TextEncoder().encode(input) : input;
}

/** Reads and understands an input, as an import does before it looks at the store. */
export async function readWhole(input: string | Uint8Array, given: Given = {}) {
  const { reading, isGuessed, understanding, input: read } = await prepare(bytesOf(input), given);
  const { outcomes, stems, dayFirst } = understanding;
  const notes = [...read.notes, ...understanding.notes];
  const { shape, partial } = read;
  const { format } = reading;
  return { format, shape, reading, isGuessed, outcomes, notes, stems, partial, dayFirst };
}

/** What would be asked of an input. */
export const proposalOf = (input: string | Uint8Array, given: Given = {}) =>
  propose(readList(bytesOf(input), given), given);

const fixtures = new URL("../../fixtures/import/", import.meta.url);

export async function fixture(name: string): Promise<Uint8Array> {
  return await Bun.file(new URL(name, fixtures)).bytes();
}

/** An outcome as one short line, to compare many at a glance. */
export function brief(outcome: Outcome): string {
  const id = outcome.externalId === undefined ? "" : ` [${outcome.externalId}]`;
  switch (outcome.kind) {
    case "pet": {
      const category = outcome.category.name ?? outcome.category.id;
      return `${outcome.line} ${outcome.name} / ${category} / ${outcome.status ?? "none"}${id}`;
    }
    case "gone":
      return `${outcome.line} gone: ${outcome.reason}${id}`;
    case "reject":
      return `${outcome.line} rejected: ${outcome.field}: ${messageText(outcome.problem)}`;
  }
}

/** The message of the UnreadableInput that `work` ends in. */
export async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof UnreadableInput) return error.message;
    throw error;
  }
  throw new Error("nothing was refused");
}
