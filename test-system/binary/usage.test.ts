/** What keys did by day, over days that were lived through before. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { isoDay } from "../../src/features/keys/usage.ts";
import { windowMs } from "../../src/domain/windows.ts";
import type { Static } from "../../src/features/json.ts";
import { keyDetailsSchema, keyListSchema } from "../../src/features/keys/fields.ts";
import { makeKey, temporaryFolder, type TestKey } from "../../test/helpers/binary.ts";
import { documentedJson } from "../../test/helpers/json-contract.ts";
import { command } from "../../test/helpers/command.ts";
import { liveThrough } from "../../test/helpers/usage.ts";

const folder = temporaryFolder();
const env = { REHOME_DATA: folder.path };
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

const ago = (days: number) => isoDay(Math.floor(Date.now() / windowMs.day) - days);

test("keys show has the days of one key, as far back as asked", async () => {
  const shown = async (...args: string[]) => {
    const result = await command(["keys", "show", "busy", ...args, "--json"], { env });
    expect(result).toMatchObject({ exitCode: 0, stderr: "" });
    const details = documentedJson(keyDetailsSchema, result.stdout);
    return (details as Static<typeof keyDetailsSchema>).days;
  };
  const days = [
    { day: ago(3), requests: 900, refusals: 5, bans: 0 },
    { day: ago(2), requests: 0, refusals: 0, bans: 1 },
    { day: ago(1), requests: 300, refusals: 0, bans: 0 },
    { day: ago(0), requests: 20, refusals: 0, bans: 0 },
  ];
  expect(await shown()).toEqual(days);
  expect(await shown("--days", "1")).toEqual(days.slice(-1));
  expect(await shown("--days", "41")).toMatchObject([{ day: ago(40), requests: 77 }, ...days]);
  const { stdout } = await command(["keys", "show", "busy", "--days", "2"], { env });
  expect(stdout).toContain(`\nLast 2 days\n  ${ago(0)}  20 requests\n  ${ago(1)}  300 requests\n`);
});

test("keys list says who should have another plan, of those that are not revoked", async () => {
  const { id } = await makeKey(folder.path, "--plan", "free", "--name", "revoked");
  await liveThrough(folder.path, id, [{ daysAgo: 1, requests: 900 }]);
  await command(["keys", "revoke", id], { env });
  const list = async (...args: string[]) =>
    (await command(["keys", "list", ...args], { env })).stdout;
  const keys = documentedJson(keyListSchema, await list("--json"));
  const advised = (keys as Static<typeof keyListSchema>).map(({ id, advice }) => [id, advice]);
  expect(Object.fromEntries(advised)).toEqual({
    [busy.id]: { window: "day", plan: "pro" },
    [pressed.id]: { window: "minute", plan: "business" },
    [idle.id]: null,
    [id]: null,
  });
  const text = await list();
  expect(text).toContain("used 90% of its day (900 of 1,000).");
  expect(text).toContain(`rehome keys update ${busy.id} --plan pro\n`);
  expect(text).toContain(`${pressed.id} "pressed", plan pro, was refused 100 times`);
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
  const result = await command(["keys", "show", "busy", "--days", "401"], { env });
  expect(result).toMatchObject({ exitCode: 2, stdout: "" });
  expect(result.stderr).toContain("It must be a whole number from 1 to 400.");
});
