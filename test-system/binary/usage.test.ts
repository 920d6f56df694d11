/** `rehome usage`, over days that were lived through before. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { isoDay } from "../../src/domain/clock.ts";
import { windowMs } from "../../src/domain/windows.ts";
import { usageSchema, type UsageReport } from "../../src/features/operate/usage/report.ts";
import { makeKey, temporaryFolder, type TestKey } from "../../test/helpers/binary.ts";
import { documentedJson } from "../../test/helpers/json-contract.ts";
import { command } from "../../test/helpers/command.ts";
import { liveThrough } from "../../test/helpers/usage.ts";

const folder = temporaryFolder();
const env = { REHOME_DATA: folder.path };
const usage = (...args: string[]) => command(["usage", ...args], { env });
let busy: TestKey;
let pressed: TestKey;
let idle: TestKey;

beforeAll(async () => {
  busy = await makeKey(folder.path, "--plan", "free", "--name", "busy");
  pressed = await makeKey(folder.path, "--plan", "pro", "--name", "pressed");
  idle = await makeKey(folder.path, "--plan", "free", "--name", "idle");
  await liveThrough(folder.path, busy.id, [
    { daysAgo: 40, requests: 77 },
    { daysAgo: 3, requests: 900, refusals: 5 },
    { daysAgo: 2, requests: 0, bans: 1 },
    { daysAgo: 1, requests: 300 },
    { daysAgo: 0, requests: 20 },
  ]);
  await liveThrough(folder.path, pressed.id, [{ daysAgo: 1, requests: 2_000, refusals: 100 }]);
});
afterAll(() => folder[Symbol.dispose]());

async function report(...args: string[]): Promise<UsageReport> {
  const result = await usage(...args, "--json");
  expect(result).toMatchObject({ exitCode: 0, stderr: "" });
  return documentedJson(usageSchema, result.stdout) as UsageReport;
}

const ago = (days: number) => isoDay(Math.floor(Date.now() / windowMs.day) - days);

describe("--json", () => {
  test("has every day, the totals and all keys", async () => {
    const shown = await report("--days", "5");
    expect(shown).toMatchObject({ from: ago(4), to: ago(0) });
    expect(shown.totals).toEqual({ requests: 3_220, refusals: 105, bans: 1 });
    expect(shown.days).toEqual([
      { day: ago(4), requests: 0, refusals: 0, bans: 0 },
      { day: ago(3), requests: 900, refusals: 5, bans: 0 },
      { day: ago(2), requests: 0, refusals: 0, bans: 1 },
      { day: ago(1), requests: 2_300, refusals: 100, bans: 0 },
      { day: ago(0), requests: 20, refusals: 0, bans: 0 },
    ]);
    expect(shown.keys).toMatchObject([
      { id: pressed.id, requests: 2_000, advice: { window: "minute", plan: "business" } },
      { id: busy.id, peakPerDay: 900, perDay: 1_000, advice: { window: "day", plan: "pro" } },
      { id: idle.id, requests: 0, advice: null },
    ]);
  });

  test("of one key, as far back as asked", async () => {
    const shown = await report("busy", "--days", "41");
    expect(shown.days).toHaveLength(41);
    expect(shown.days[0]).toMatchObject({ day: ago(40), requests: 77 });
    expect(shown.keys).toHaveLength(1);
    expect((await report("busy", "--days", "1")).totals.requests).toBe(20);
  });
});

describe("for a person", () => {
  test("all keys: days, totals, table, and who should have another plan", async () => {
    const { stdout, stderr, exitCode } = await usage();
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(stdout).toStartWith(`Requests per day, ${ago(29)} to ${ago(0)}, 3 keys\n`);
    // From the first day with a request on.
    expect(stdout).toContain(
      `\n\nDAY         OF THE HIGHEST DAY         REQUESTS  REFUSALS  BANS\n`,
    );
    expect(stdout).toContain(`\n${ago(1)}  ${"█".repeat(20)} 100%     2,300       100\n`);
    expect(stdout).not.toContain(ago(4));
    expect(stdout).toContain("Total 3,220 requests, 105 refusals, 1 ban; 107 requests a day");
    expect(stdout).toContain("900 (90%)");
    expect(stdout).not.toContain(idle.id);
    expect(stdout).toContain(`rehome keys update ${busy.id} --plan pro\n`);
    expect(stdout).toContain(
      `${pressed.id} "pressed", plan pro, was refused 100 times, although no day was used up`,
    );
  });

  test("one key: its days as shares of its limit", async () => {
    const { stdout } = await usage("busy");
    expect(stdout).toContain("\nDAY         OF 1,000 A DAY ");
    expect(stdout).toContain(`\n${ago(3)}  ${"█".repeat(18)}░░  90%       900         5\n`);
    expect(stdout).toMatch(new RegExp(`^${ago(2)} .* 0% +0 +1$`, "m"));
    expect(stdout).not.toMatch(/^ID /m);
  });
});

test("a key that used more than it may now has nothing left", async () => {
  using other = temporaryFolder();
  const { id } = await makeKey(other.path, "--plan", "free");
  await liveThrough(other.path, id, [
    { daysAgo: 1, requests: 1 },
    { daysAgo: 0, requests: 20 },
  ]);
  const data = ["--data", other.path];
  const limits = ["--plan", "enterprise", "--per-minute", "5", "--per-day", "5"];
  expect((await command(["keys", "update", id, ...limits, ...data])).exitCode).toBe(0);
  const beforeMs = Date.now();
  const { stdout } = await command(["keys", "show", id, "--json", ...data]);
  const { windows } = JSON.parse(stdout) as { windows: { minute: { resetsAt: string } } };
  expect(windows).toMatchObject({ day: { used: 20, remaining: 0 } });
  expect(Date.parse(windows.minute.resetsAt)).toBeGreaterThan(beforeMs);
  const shown = (await command(["keys", "show", id, ...data])).stdout;
  expect(shown).toMatch(/ 20 requests\n +[\d-]+ +1 request\n/);
});

test("a number of days that is none is refused", async () => {
  const result = await usage("--days", "401");
  expect(result).toMatchObject({ exitCode: 2, stdout: "" });
  expect(result.stderr).toContain("It must be a whole number from 1 to 400.");
});
