/** What `keys show` and `keys list` say of days that were lived through before. */
import { expect, test } from "bun:test";
import { isoDay } from "../../../src/features/keys/usage.ts";
import { windowMs } from "../../../src/domain/windows.ts";
import { makeKey, temporaryFolder } from "../../helpers/binary.ts";
import { command } from "../../helpers/command.ts";
import { liveThrough } from "../../helpers/usage.ts";

const ago = (days: number) => isoDay(Math.floor(Date.now() / windowMs.day) - days);

test("keys show has the days of a key, as far back as asked, and keys list who needs another plan", async () => {
  using folder = temporaryFolder();
  const env = { REHOME_DATA: folder.path };
  const printed = async (...args: string[]) => (await command(["keys", ...args], { env })).stdout;
  const { id } = await makeKey(folder.path, "--plan", "free", "--name", "busy");
  const other = await makeKey(folder.path, "--plan", "pro", "--name", "pressed");
  await makeKey(folder.path, "--plan", "free", "--name", "idle");
  await liveThrough(folder.path, id, [
    { daysAgo: 40, requests: 77 },
    { daysAgo: 3, requests: 900, refusals: 5 },
    { daysAgo: 2, requests: 0, bans: 1 },
    { daysAgo: 0, requests: 20 },
  ]);
  await liveThrough(folder.path, other.id, [{ daysAgo: 1, requests: 2_000, refusals: 100 }]);
  const revoked = await makeKey(folder.path, "--plan", "free", "--name", "revoked");
  await liveThrough(folder.path, revoked.id, [{ daysAgo: 1, requests: 900 }]);
  await printed("revoke", "revoked");
  const days = [
    { day: ago(3), requests: 900, refusals: 5, bans: 0 },
    { day: ago(2), requests: 0, refusals: 0, bans: 1 },
    { day: ago(0), requests: 20, refusals: 0, bans: 0 },
  ];
  const shown = async (...args: string[]) => {
    const text = await printed("show", "busy", "--json", ...args);
    return (JSON.parse(text) as { days: unknown }).days;
  };
  expect(await shown()).toEqual(days);
  expect(await shown("--days", "1")).toEqual(days.slice(-1));
  expect(await shown("--days", "41")).toMatchObject([{ day: ago(40), requests: 77 }, ...days]);
  const keys = JSON.parse(await printed("list", "--json")) as {
    name: string;
    advice: unknown;
  }[];
  expect(Object.fromEntries(keys.map(({ name, advice }) => [name, advice]))).toEqual({
    busy: { window: "day", plan: "pro" },
    pressed: { window: "minute", plan: "business" },
    idle: null,
    revoked: null,
  });
  const text = await printed("list");
  expect(text).toContain("used 90% of its day (900 of 1,000).");
  expect(text).toContain(`rehome keys update ${id} --plan pro\n`);
  expect(text).toContain('"pressed", plan pro, was refused 100 times');
});
