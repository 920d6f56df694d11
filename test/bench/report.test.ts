import { describe, expect, test } from "bun:test";
import { animal } from "../../bench/animals.ts";
import { runLoad } from "../../bench/load.ts";
import { promiseTable, report, type Results } from "../../bench/report.ts";
import {
  type Outcome,
  type Round,
  type ScenarioResult,
  median,
  medianRound,
  ratio,
} from "../../bench/stats.ts";

const round = (requestsPerSecond: number): Round => ({
  requestsPerSecond,
  p50Ms: 1,
  p99Ms: 2,
  cpuUs: 10,
  rssMiB: 60,
  writtenBytes: 0,
  responseBytes: 1000,
  busy: 1,
  others: 0,
});

const ran = (target: string, ...speeds: number[]): Outcome => {
  const rounds = speeds.map(round);
  return { target, ran: true, rounds, median: medianRound(rounds) };
};

const result = (...outcomes: Outcome[]): ScenarioResult => ({ name: "list", title: "", outcomes });

const results = (...scenarios: ScenarioResult[]): Results => ({
  environment: {
    machine: ["a machine"],
    disk: "ext4 on /dev/x",
    versions: {},
    commit: "c0ffee",
    date: "today",
    how: "bun run bench",
    loadBefore: 0,
  },
  scenarios,
});

test("the median of odd and even counts; of nothing it is refused", () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(() => median([])).toThrow("no values");
});

test("a ratio is taken round by round, so that a slow minute of the machine does not show", () => {
  const both = result(ran("rehome", 80, 40, 79), ran("Hono", 100, 50, 100));
  expect(ratio(both, "rehome", "Hono", "requestsPerSecond")).toEqual({
    median: 0.8,
    least: 0.79,
    most: 0.8,
  });
  const one = result(ran("rehome", 80), { target: "Hono", ran: false, reason: "no port" });
  expect(ratio(one, "rehome", "Hono", "requestsPerSecond")).toBeUndefined();
});

describe("the promises", () => {
  test("are held against the best of the frameworks, in words", () => {
    const peers = [ran("Fastify", 10), ran("Hono", 30), ran("Express", 20)];
    const kept = promiseTable(results(result(ran("rehome", 90), ...peers)));
    expect(kept).toContain("| list, times Hono | 3.00 (3.00 to 3.00) | >= 2.5 | kept |");
    const missed = promiseTable(results(result(ran("rehome", 60), ...peers)));
    expect(missed).toContain("| list, times Hono | 2.00 (2.00 to 2.00) | >= 2.5 | MISSED |");
  });
  test("have no figure for what did not run, and the report has the reason", () => {
    const broken = { target: "rehome", ran: false, reason: "3 responses were 500" } as const;
    const text = report(results(result(broken, ran("Hono", 30))));
    expect(text).toContain("| list, times Hono |  | >= 2.5 | did not run |");
    expect(text).toContain("- list: rehome did not run: 3 responses were 500");
  });
});

test("the load counts every response, whatever its status and in how many pieces it comes", async () => {
  const body = "x".repeat(300_000);
  let asked = 0;
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response(body, { status: (asked += 1) % 2 === 0 ? 200 : 429 }),
  });
  const requests = [{ method: "GET", path: "/", headers: {} } as const];
  const counted = await runLoad({ port: server.port!, connections: 4, requests, total: 40 });
  expect(counted).toMatchObject({ requests: 40, statuses: { 200: 20, 429: 20 } });
  expect(counted.bytes).toBeGreaterThan(40 * body.length);
});

test("the animals are the same in every run and of every status", () => {
  expect(animal(1)).toEqual(animal(1));
  const statuses = new Set(Array.from({ length: 200 }, (_, i) => animal(i + 1).status));
  expect(statuses).toEqual(new Set(["available", "pending", "sold", undefined]));
});
