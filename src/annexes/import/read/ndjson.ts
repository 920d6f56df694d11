import { parseJson } from "../../../domain/exact-json.ts";
import { explainJson } from "./explain-json.ts";
import { type ByteChunks, Window } from "./input.ts";
import { MalformedRecord, type RecordBatch } from "./records.ts";

const newline = 10;
const blankLine = /^[ \t\r]*$/;

/**
 * The records of newline-delimited JSON, one value a line; blank lines are passed over. A line that is not
 * JSON becomes a `MalformedRecord`, because the next line can still be read.
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
      if (texts.at(-1) === "") texts.pop();
      window.start += length;
      if (texts.length > 0) yield parsed(texts, line);
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

function record(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return new MalformedRecord(explainJson(text)?.problem ?? "not JSON", text);
  }
}
