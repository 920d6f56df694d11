import { describe, expect, test } from "bun:test";
import { plotLines, scaleTop, type Plot } from "../../../../src/features/operate/usage/plot.ts";

const plot = (options: Partial<Plot> & Pick<Plot, "values">, width = 60) =>
  plotLines({ from: "2026-11-01", to: "2026-11-04", paint: (cell) => cell, ...options }, width);

test.each([
  [0, 1],
  [1, 1],
  [1.5, 2],
  [3, 4],
  [9, 10],
  [10, 10],
  [11, 20],
  [401, 600],
  [8_001, 10_000],
  [1_000_000, 1_000_000],
])("the scale for %d ends at %d", (value, top) => expect(scaleTop(value)).toBe(top));

test("columns stand over a scale and their time", () => {
  expect(plot({ values: [0, 1, 50, 100] }).lines).toEqual([
    "100 ┤            ███",
    "    ┤            ███",
    "    ┤            ███",
    "    ┤            ███",
    " 50 ┤        ███ ███",
    "    ┤        ███ ███",
    "    ┤        ███ ███",
    "    ┤    ▁▁▁ ███ ███",
    "  0 └────────────────",
    "     2026-11-01 - 2026-11-04",
  ]);
});

test("a day with anything at all shows something", () => {
  expect(plot({ values: [0, 1, 1_000] }).lines[7]).toBe("      ┤    ▁▁▁ ███");
});

test("the limit is drawn across where the values come near it", () => {
  const near = plot({ values: [50, 90], limit: 100 }).lines;
  expect(near[0]).toBe("limit 100 ┤╌╌╌ ▂▂▂");
  const far = plot({ values: [5, 9], limit: 100 }).lines;
  expect(far.join("\n")).not.toContain("limit");
});

test("values above the limit reach above its line", () => {
  const { lines } = plot({ values: [50, 180], limit: 100 });
  expect(lines[0]).toStartWith("      200 ┤");
  expect(lines.findIndex((line) => line.startsWith("limit 100 ┤"))).toBe(3);
});

test("marks stand below their columns", () => {
  const { lines } = plot({
    values: [1, 2, 3, 4],
    marks: [
      [" ", "!", " ", "!"],
      [" ", " ", " ", " "],
    ],
  });
  expect(lines.at(-2)).toBe("       !       !");
  expect(lines).toHaveLength(11);
});

describe("more values than cells", () => {
  const values = Array.from({ length: 400 }, (_, at) => (at === 200 ? 999 : 100));
  const marks = [values.map((value) => (value === 999 ? "B" : " "))];

  test.each([40, 60, 79, 100])("%d cells hold them all, the highest shown", (width) => {
    const { lines, perColumn } = plot({ values, marks }, width);
    for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(width);
    expect(perColumn).toBe(Math.ceil(400 / (width - 7)));
    expect(lines[0]).toContain("█");
    expect(lines.at(-2)?.trim()).toBe("B");
    expect(lines.at(-2)?.indexOf("B")).toBe(lines[0]?.indexOf("█"));
  });
});

test("each column is painted by its value", () => {
  const { lines } = plot({
    values: [1, 8],
    paint: (cell, value) => (value > 4 ? `<${cell}>` : cell),
  });
  expect(lines[0]).toContain("<███>");
  expect(lines[7]).toBe("  ┤███ <███>");
});
