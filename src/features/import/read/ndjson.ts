import { parseJson } from "../../../domain/exact-json.ts";
import { explainJson } from "./explain-json.ts";
import { type ByteChunks, UnreadableInput, Window } from "./input.ts";
import { MalformedRecord, type RecordBatch } from "./records.ts";
import { message, messageText } from "../messages.ts";

const newline = 10;
const blankLine = /^[ \t\r]*$/;

/**
 * The records of newline-delimited JSON, one value a line; blank lines are passed over. A line that
 * is not JSON becomes a `MalformedRecord`, because the next line can still be read. Throws
 * UnreadableInput for a last one that is cut off.
 */
export async function* readNdjson(chunks: ByteChunks): AsyncGenerator<RecordBatch> {
  const window = new Window(chunks);
  const decoder = new TextDecoder();
  let line = 1;
  try {
    while (!window.ended) {
      await window.readOn(line);
      const left = Buffer.from(window.bytes.buffer, window.start, window.end - window.start);
      const length = window.ended ? left.length : left.lastIndexOf(newline) + 1;
      const texts = decoder.decode(left.subarray(0, length)).split("\n");
      // After the last newline there is nothing yet (or at the input's end perhaps nothing at all).
      const isUnended = texts.at(-1) !== "";
      if (!isUnended) texts.pop();
      window.start += length;
      const batch = parsed(texts, line);
      if (isUnended) refuseCut(batch);
      if (texts.length > 0) yield batch;
      line += texts.length;
    }
  } finally {
    await window.close();
  }
}

function parsed(texts: readonly string[], firstLine: number): RecordBatch {
  const lines: number[] = [];
  const records: unknown[] = [];
  for (const [index, text] of texts.entries()) {
    if (blankLine.test(text)) continue;
    lines.push(firstLine + index);
    records.push(record(text));
  }
  return { lines, records };
}

/** Refuses an input whose last line has no end, neither as a line nor as JSON. */
function refuseCut({ lines, records }: RecordBatch): void {
  const last = records.at(-1);
  if (!(last instanceof MalformedRecord) || !messageText(last.problem).endsWith("found the end"))
    return;
  throw new UnreadableInput(lines.at(-1) ?? 0, message("cutOff", messageText(last.problem)));
}

function record(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return new MalformedRecord(message("notJson", explainJson(text)?.problem ?? "not JSON"), text);
  }
}
