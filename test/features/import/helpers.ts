import type { Outcome } from "../../../src/features/import/candidate.ts";
import type { Format } from "../../../src/features/import/formats/format.ts";
import { messageText } from "../../../src/features/import/messages.ts";
import type { Note } from "../../../src/features/import/notes.ts";
import { type ReadOptions, beginReading } from "../../../src/features/import/reading.ts";
import { UnreadableInput } from "../../../src/features/import/read/input.ts";

/** The bytes of `input` in pieces of `size`. */
export async function* inPieces(
  input: string | Uint8Array,
  size: number,
): AsyncGenerator<Uint8Array> {
  const bytes = typeof input === "string" ? new TextEncoder().encode(input) : input;
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export interface WholeReading {
  readonly format: string;
  readonly shape: string;
  readonly outcomes: readonly Outcome[];
  readonly referenced: ReadonlyMap<string, string>;
  readonly notes: readonly Note[];
}

/** Reads a catalogue to its end, in pieces that cut everything that can be cut. */
export async function readWhole(
  input: string | Uint8Array,
  format?: Format,
  pieceSize = 7,
  options: ReadOptions = {},
): Promise<WholeReading> {
  const reading = await beginReading(inPieces(input, pieceSize), { ...options, format });
  const outcomes: Outcome[] = [];
  for await (const batch of reading.batches) outcomes.push(...batch);
  const { shape, referenced } = reading;
  return { format: reading.format.name, shape, outcomes, referenced, notes: reading.notes() };
}

const fixtures = new URL("../../fixtures/import/", import.meta.url);

export async function fixture(name: string): Promise<Uint8Array> {
  return await Bun.file(new URL(name, fixtures)).bytes();
}

export async function readFixture(name: string, format?: Format): Promise<WholeReading> {
  return await readWhole(await fixture(name), format);
}

/** An outcome as one short line, to compare many at a glance. */
export function brief(outcome: Outcome): string {
  const id = outcome.externalId === undefined ? "" : ` [${outcome.externalId}]`;
  switch (outcome.kind) {
    case "pet": {
      const category = Object.entries(outcome.category).join();
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
