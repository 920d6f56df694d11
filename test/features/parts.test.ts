/** What many features share: durations, confirmations, tables, visible names and times of jobs. */
import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { dayMs, hourMs, minuteMs } from "../../src/domain/clock.ts";
import { confirm } from "../../src/features/confirm.ts";
import { durationText, parseDuration } from "../../src/features/duration.ts";
import { restartPause } from "../../src/features/operate/restart-pause.ts";
import { failingMs } from "../../src/features/operate/doctor/schedule.ts";
import * as times from "../../src/features/schedule/jobs.ts";
import { printTable, stylesOf } from "../../src/features/table.ts";
import { UsageError } from "../../src/features/usage-error.ts";
import { isVisible } from "../../src/features/visible.ts";
import { checked } from "../domain/checked.ts";
import { testIo } from "../helpers/io.ts";

const unitsMs = { s: 1_000, m: minuteMs, h: hourMs, d: dayMs } as const;

test("a duration is a number times its unit, up to a hundred years", () => {
  checked(fc.tuple(fc.nat(999_999_999), fc.constantFrom("s", "m", "h", "d")), ([count, unit]) => {
    const ms = count * unitsMs[unit];
    const isShort = ms <= 36_500 * dayMs;
    expect(parseDuration(`${count}${unit}`)).toBe(isShort ? ms : undefined);
    if (isShort) expect(parseDuration(durationText(ms))).toBe(ms);
  });
  expect(parseDuration("0")).toBe(0);
  const others = ["", "1", "d", "-1d", "+1d", "1.5h", "1e3s", " 1d", "1d ", "1d\n", "1D", "1w"];
  expect([...others, "1d12h"].filter((text) => parseDuration(text) !== undefined)).toEqual([]);
});

test.each([
  [0, "0s"],
  [60_000, "1m"],
  [90_000, "90s"],
  [86_400_000, "1d"],
  [90_000_000, "25h"],
])("%d ms are %s", (ms, text) => expect(durationText(ms)).toBe(text));

const answered = (answers: readonly string[], end: string) =>
  answers.map(
    (answer) => ({ canAsk: true, answer, yes: false, unattended: "refuse", end }) as const,
  );
test.each([
  ...answered(["y", "Y", "yes", " yes "], "goes on"),
  ...answered(["", "n", "no", "yess", "j"], "Nothing was changed."),
  { canAsk: true, answer: "n", yes: true, unattended: "refuse", end: "goes on" } as const,
  // Without a terminal, what cannot be undone needs --yes, and an emergency stop does not.
  { canAsk: false, answer: "", yes: false, unattended: "refuse", end: "UsageError" } as const,
  { canAsk: false, answer: "", yes: true, unattended: "refuse", end: "goes on" } as const,
  { canAsk: false, answer: "", yes: false, unattended: "proceed", end: "goes on" } as const,
])("a question with %j", async ({ canAsk, answer, yes, unattended, end }) => {
  const questions: string[] = [];
  const ask = async (question: string) => {
    questions.push(question);
    return answer;
  };
  const going = confirm(testIo({ canAsk, ask }), "Sure?", { yes, unattended });
  const ended = await going.then(
    () => "goes on",
    (error: Error) => (error instanceof UsageError ? "UsageError" : error.message),
  );
  expect(ended).toBe(end);
  expect(questions).toEqual(canAsk && !yes ? ["Sure? [y/N] "] : []);
});

const header = [
  "ID",
  { title: "LABEL", flexible: true },
  { title: "COUNT", align: "right" },
] as const;
function printed(
  rows: Parameters<typeof printTable>[2],
  options: Parameters<typeof testIo>[0] = {},
  columns: Parameters<typeof printTable>[1] = header,
) {
  const io = testIo(options);
  printTable(io, columns, rows);
  return io.printed();
}
const narrow = (columns: number) => ({ isTerminal: true, columns, env: { NO_COLOR: "1" } });

test("a table's columns line up by the cells that they take, numbers at their right", () => {
  const rows = [
    ["a", "東京", "1,000"],
    ["bcd", "e\u0301", "7"],
    ["c", "👩‍👩‍👧", "3"],
  ];
  expect(printed(rows)).toBe(
    "ID   LABEL  COUNT\na    東京   1,000\nbcd  e\u0301          7\nc    👩‍👩‍👧         3\n",
  );
});

test("on a narrow terminal the flexible column is cut, and what is optional left out, the last one first", () => {
  const text = printed([["key_1", "a long label for somebody", "12"]], narrow(24));
  expect(text).toBe("ID     LABEL       COUNT\nkey_1  a long la…     12\n");
  const columns = [
    "ID",
    { title: "LABEL", flexible: true },
    { title: "USED", optional: true },
    { title: "TODAY", align: "right" },
    { title: "USE", optional: true },
  ] as const;
  const row = ["key_123", "a long label", "yesterday", "12", "50 %"];
  const linesAt = (width: number) => printed([row], narrow(width), columns).split("\n");
  expect(linesAt(60)[0]).toBe("ID       LABEL         USED       TODAY  USE");
  expect(linesAt(41)[1]).toBe("key_123  a long …  yesterday     12  50 %");
  expect(linesAt(35)[1]).toBe("key_123  a long …  yesterday     12");
  expect(linesAt(26)).toEqual(["ID       LABEL       TODAY", "key_123  a long la…     12", ""]);
  // A line that is still too long is the terminal's to break, and a script reads all.
  expect(linesAt(10)[1]).toBe("key_123  a long …     12");
  expect(printed([row], { columns: 8 }, columns)).toContain("yesterday");
});

test.each([
  [{ isTerminal: true }, true],
  [{ isTerminal: true, env: { NO_COLOR: "" } }, true],
  [{ isTerminal: true, env: { NO_COLOR: "1" } }, false],
  [{ isTerminal: true, env: { TERM: "dumb" } }, false],
  [{ isTerminal: false }, false],
])("with %j there are colours: %p", (options, isColoured) =>
  expect(stylesOf(testIo(options)).red("a")).toBe(isColoured ? "\u001B[31ma\u001B[39m" : "a"),
);

test("a name can be seen that has something else than blanks and marks", () => {
  const zwnj = "\u0645\u06cc\u200c\u062e";
  const visible = [
    "Ana",
    "\u00e9",
    "e\u0301",
    "\u732b",
    "7",
    "?",
    "\u{1f415}",
    "\u{1f468}\u200d\u{1f469}",
  ];
  const blank = ["", " ", "\u00a0\t", "\u200b", "\u00ad", "\u0301", "\u3164", "\u2800", "\ufeff"];
  const all = [...visible, zwnj, ...blank, "\u{e0020}", "\ud800"];
  expect(all.filter(isVisible)).toEqual([...visible, zwnj]);
});

test("a failure waits a minute, then twice as long, up to the interval", () => {
  const wait = (failures: number) => times.backoffMs(hourMs, failures) / minuteMs;
  expect([1, 2, 3, 6, 7, 1000].map(wait)).toEqual([1, 2, 4, 32, 60, 60]);
  // So many failures in a row took so long at least.
  const failing = (failures: number) => failingMs({ everyMs: hourMs, failures }) / minuteMs;
  expect([0, 1, 2, 4, 8].map(failing)).toEqual([0, 0, 1, 7, 123]);
});

const minutes = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => from + at * minuteMs);
const { leaseMs } = times;
test.each([
  ["forward begins a job once", [0, 1e12, ...minutes(1e12, 30)], 2],
  ["by less than a lease is another server's, and begins nothing", [leaseMs, 0, 1, leaseMs], 1],
  ["back does not flood", [1e12, ...minutes(0, 60)], 2],
  ["back does not starve", [1e12, ...minutes(0, 61)], 3],
])("a clock that jumps %s", (_what, clocks, starts) => {
  let job = { nextAtMs: 0, triedAtMs: null as number | null, paused: null };
  const begun = clocks.filter((nowMs) => {
    if (!times.isDue(job, nowMs)) return false;
    job = { ...job, triedAtMs: nowMs, nextAtMs: nowMs + hourMs };
    return true;
  });
  expect(begun).toHaveLength(starts);
});

test("what dies again and again waits longer each time, up to the longest pause, or a clean minute", () => {
  const pause = restartPause(1, 10);
  const waits = [0, 500, 59_999, 0, 0, 0, 60_000, 0].map((ranMs) => pause(ranMs));
  expect(waits).toEqual([1, 2, 4, 8, 10, 10, 1, 2]);
});
