import { describe, expect, test } from "bun:test";
import type { Io } from "../../src/cli/io.ts";
import { ProgressLine, progressText } from "../../src/features/progress.ts";

const half = { label: "Reading", done: 120_000, unit: "records", fraction: 0.5 };

describe("progressText", () => {
  test("shows a bar, the count, the rate and the time left", () => {
    expect(progressText(half, 1_000)).toBe(
      "Reading  [##########----------]   50 %  120,000 records  120,000/s  1 s left",
    );
    expect(progressText({ ...half, fraction: 0.01 }, 2_000)).toEndWith("60,000/s  3 min 18 s left");
  });

  test("has no rate before it means something, and no bar without an end", () => {
    expect(progressText(half, 100)).toBe("Reading  [##########----------]   50 %  120,000 records");
    expect(progressText({ ...half, fraction: undefined }, 1_000)).toBe(
      "Reading  120,000 records  120,000/s",
    );
  });

  test("a file that grows while it is read does not go beyond its end", () => {
    expect(progressText({ ...half, fraction: 1.2 }, 1_000)).toContain(
      "[####################]  100 %",
    );
  });
});

describe("ProgressLine", () => {
  function drawn(talkIsTerminal: boolean, timesMs: readonly number[]): string {
    let text = "";
    let nowMs = 0;
    const io = { talkIsTerminal, draw: (more: string) => void (text += more) } as unknown as Io;
    const line = new ProgressLine(io, () => nowMs);
    for (nowMs of timesMs) line.show(half);
    line.clear();
    return text;
  }

  test("is drawn at most every tenth of a second, in one place, and taken away", () => {
    const lines = drawn(true, [0, 50, 99, 100, 150]).split("\r\u001B[K");
    expect(lines).toHaveLength(4);
    expect(lines.at(-1)).toBe("");
  });

  test("is not drawn where nobody sees it", () => {
    expect(drawn(false, [0, 200])).toBe("");
  });
});
