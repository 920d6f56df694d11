import { describe, expect, test } from "bun:test";
import { animal } from "../../bench/animals.ts";
import { scenarioTable } from "../../bench/report.ts";
import {
  type Outcome,
  type Round,
  type ScenarioResult,
  median,
  medianRound,
  ratio,
} from "../../bench/stats.ts";
import { luaScript } from "../../bench/wrk.ts";

const round = (requestsPerSecond: number): Round => ({
  requestsPerSecond,
  p50Ms: 1,
  p99Ms: 2,
  cpuUs: 10,
  rssMiB: 60,
  writtenBytes: 0,
  answerBytes: 1000,
  busy: 1,
  others: 0,
});

const ran = (target: string, ...speeds: number[]): Outcome => {
  const rounds = speeds.map(round);
  return { target, ran: true, rounds, median: medianRound(rounds) };
};

const result = (...outcomes: Outcome[]): ScenarioResult => ({
  name: "list",
  title: "",
  baseline: "bare",
  goals: [],
  outcomes,
});

describe("median", () => {
  test("of odd and even counts", () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 3, 2])).toBe(2.5);
  });
  test("of nothing is refused", () => {
    expect(() => median([])).toThrow("no values");
  });
});

describe("ratio", () => {
  test("is taken round by round, so that a slow minute of the machine does not show", () => {
    const both = result(ran("rehome", 80, 40, 79), ran("bare", 100, 50, 100));
    expect(ratio(both, "rehome", "bare", "requestsPerSecond")).toEqual({
      median: 0.8,
      least: 0.79,
      most: 0.8,
    });
  });
  test("is absent when one side did not run", () => {
    const one = result(ran("rehome", 80), { target: "bare", ran: false, reason: "no port" });
    expect(ratio(one, "rehome", "bare", "requestsPerSecond")).toBeUndefined();
  });
});

describe("a table", () => {
  test("has the ratio beside the figure", () => {
    expect(scenarioTable(result(ran("rehome", 8000), ran("bare", 10_000)))).toContain(
      "8,000 (0.80)",
    );
  });
  test("has no figure for what did not run, but the reason", () => {
    const text = scenarioTable(
      result(ran("bare", 10_000), { target: "rehome", ran: false, reason: "3 answers were 500" }),
    );
    const row = text.split("\n").find((line) => line.startsWith("| rehome"));
    expect(row).toContain("did not run");
    expect(row).not.toMatch(/\d/);
    expect(text).toContain("- rehome did not run: 3 answers were 500");
  });
});

describe("the load", () => {
  test("of one request takes wrk's static way", () => {
    const one = {
      method: "GET",
      path: "/v1/pets",
      headers: { Authorization: "Bearer x" },
    } as const;
    expect(luaScript([one])).not.toContain("function request");
    expect(luaScript([one, one])).toContain("function request");
  });
});

test("the animals are the same in every run and of every status", () => {
  expect(animal(1)).toEqual(animal(1));
  const statuses = new Set(Array.from({ length: 200 }, (_, i) => animal(i + 1).status));
  expect(statuses).toEqual(new Set(["available", "pending", "sold", undefined]));
});
