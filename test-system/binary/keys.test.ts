/**
 * `rehome keys`: what it prints, where, how it ends, and what a terminal shows, beside servers of
 * the compiled executable.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { dirname, join } from "node:path";
import {
  issuedSchema,
  keyDetailsSchema,
  keyListSchema,
  keySchema,
} from "../../src/features/keys/fields.ts";
import {
  cleanEnvironment,
  executable,
  makeKey,
  serve,
  temporaryFolder,
  type TestKey,
} from "../../test/helpers/binary.ts";
import { finished } from "../../test/helpers/finished.ts";
import { documentedJson } from "../../test/helpers/json-contract.ts";
import { command } from "../../test/helpers/command.ts";
import { rehomeAtTerminal } from "../../test/helpers/terminal.ts";

const folder = temporaryFolder();
const env = { REHOME_DATA: folder.path };
const keys = (...args: string[]) => command(["keys", ...args], { env });
let website: TestKey;
let city: TestKey;

beforeAll(async () => {
  website = await makeKey(folder.path, "--plan", "free", "--name", "shelter website");
  const numbers = ["--per-minute", "5000", "--per-day", "1000000"];
  city = await makeKey(folder.path, "--plan", "enterprise", ...numbers, "--name", "東京 city");
});
afterAll(() => folder[Symbol.dispose]());

/** What a command printed with `--json`, of exactly the documented shape. */
async function documented<T = Record<string, unknown>>(
  schema: Parameters<typeof documentedJson>[0],
  ...args: string[]
) {
  const result = await keys(...args, "--json");
  expect(result).toMatchObject({ exitCode: 0, stderr: "" });
  return documentedJson(schema, result.stdout) as T;
}

describe("list", () => {
  test("--json has the documented shape", async () => {
    const all = await documented<{ id: string }[]>(keyListSchema, "list");
    expect(all).toMatchObject([
      { id: website.id, plan: "free", requestsToday: 0, lastUsedOn: null },
      { id: city.id, limits: { perMinute: 5_000, perDay: 1_000_000 } },
    ]);
  });

  test("--plan, --state and --name narrow it down, together too", async () => {
    const ids = async (...filter: string[]) =>
      (await documented<{ id: string }[]>(keyListSchema, "list", ...filter)).map(({ id }) => id);
    expect(await ids("--plan", "free")).toEqual([website.id]);
    expect(await ids("--plan", "enterprise", "--state", "active")).toEqual([city.id]);
    expect(await ids("--name", "WEBSITE")).toEqual([website.id]);
    expect(await ids("--name", "京")).toEqual([city.id]);
    expect(await ids("--state", "revoked")).toEqual([]);
    expect(await ids("--plan", "free", "--name", "city")).toEqual([]);
    const none = await keys("list", "--name", "nobody");
    expect([none.exitCode, none.stdout]).toEqual([0, ""]);
    expect(none.stderr).toContain("There is no such key");
    expect((await keys("list", "--state", "asleep")).exitCode).toBe(2);
  });
});

describe("show", () => {
  test("--json has the documented shape, with every change and who made it", async () => {
    const { id } = await makeKey(folder.path, "--plan", "free", "--name", "shown");
    await keys("update", id, "--plan", "pro", "--name", "renamed");
    await keys("rotate", id, "--grace", "0");
    await keys("ban", id, "--for", "2h");
    const shown = await documented<{
      secrets: { mask: string; expiresAt: string | null }[];
      events: { actor: string; action: string; changes: unknown[] }[];
    }>(keyDetailsSchema, "show", id);
    expect(shown).toMatchObject({
      state: "banned",
      windows: { minute: { limit: 300, used: 0, remaining: 300 }, day: { limit: 10_000 } },
      ban: { strikes: 0, reason: "the operator of this service imposed it" },
    });
    expect(shown.secrets.map(({ expiresAt }) => expiresAt === null)).toEqual([false, true]);
    expect(shown.events.map(({ action }) => action)).toEqual(["create", "update", "rotate", "ban"]);
    expect(shown.events.slice(1).every(({ actor }) => actor === "kim")).toBe(true);
    expect(shown.events[1]?.changes).toEqual([
      { field: "name", before: "shown", after: "renamed" },
      { field: "plan", before: "free", after: "pro" },
      { field: "perMinute", before: "60", after: "300" },
      { field: "perDay", before: "1000", after: "10000" },
    ]);
    const [first, second] = shown.secrets.map(({ mask }) => mask);
    expect(shown.events[2]?.changes).toEqual([{ field: "secret", before: first, after: second }]);
    expect(first).toMatch(/^rehome_live_.{4}\.\.\.$/);
  });

  test("a person reads state, windows, ban, secrets and events", async () => {
    const result = await keys("show", "東京 city");
    expect(result).toMatchObject({ exitCode: 0, stderr: "" });
    for (const words of [
      `${city.id} "東京 city"`,
      "enterprise (5,000/min, 1,000,000/day)",
      "0 of 5,000, until ",
      "0; the next ban would last 5m",
      "1 secret\n",
      "1 event\n",
      "name: 東京 city",
    ])
      expect(result.stdout).toContain(words);
    expect(result.stdout).not.toContain(city.key);
  });
});

describe("changes", () => {
  test("print the key in the documented shape", async () => {
    const { id } = await makeKey(folder.path, "--plan", "free", "--name", "changed");
    expect(await documented(keySchema, "update", id, "--plan", "pro")).toMatchObject({
      plan: "pro",
    });
    expect(await documented(keySchema, "ban", id, "--for", "1h")).toMatchObject({
      state: "banned",
    });
    expect(await documented(keySchema, "unban", id)).toMatchObject({ bannedUntil: null });
    expect(await documented(issuedSchema, "rotate", id)).toMatchObject({ id, plan: "pro" });
    expect(await documented(keySchema, "revoke", id)).toMatchObject({ state: "revoked" });
  });

  test("print a line for people", async () => {
    const { id } = await makeKey(folder.path, "--plan", "free", "--name", "line");
    const result = await keys("update", id, "--plan", "pro");
    expect(result).toEqual({
      exitCode: 0,
      stdout: `${id} "line" is active: plan pro, 300/min, 10,000/day.\n`,
      stderr: "",
    });
    const { stdout } = await keys("update", id, "--expires-in", "90d");
    expect(stdout).toMatch(/10,000\/day, until \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\.\n$/);
  });

  test("create prints the secret alone on standard output", async () => {
    const result = await keys("create", "--plan", "pro", "--name", "printed");
    expect(result.exitCode).toBe(0);
    expect(result.stdout).toMatch(/^rehome_live_[0-9A-Za-z]{36}\n$/);
    expect(result.stderr).toContain("It is shown only now");
  });

  test("rotate says until when the old secret goes on", async () => {
    const { id } = await makeKey(folder.path, "--plan", "free", "--name", "rotated");
    const graceful = await keys("rotate", id);
    expect(graceful.stdout).toMatch(/^rehome_live_[0-9A-Za-z]{36}\n$/);
    expect(graceful.stderr).toMatch(/The old one stays valid until \d{4}-/);
    const atOnce = await keys("rotate", id, "--grace", "0");
    expect(atOnce.stderr).toContain("The old one is refused from now on.");
  });

  test("a duration of nothing, or of more than a hundred years, makes no key and no ban", async () => {
    const { id } = await makeKey(folder.path, "--plan", "free", "--name", "lasting");
    for (const [args, rest] of [
      [["create", "--plan", "free", "--name", "stillborn", "--expires-in", "0"], ", or never."],
      [
        ["create", "--plan", "free", "--name", "stillborn", "--expires-in", "36501d"],
        ", or never.",
      ],
      [["ban", id, "--for", "0"], "."],
    ] as const) {
      const result = await keys(...args);
      expect(result.exitCode).toBe(2);
      expect(result.stderr).toContain(
        `It must be a duration such as 30m, 24h or 90d, up to 36500d${rest}`,
      );
    }
    expect((await keys("list")).stdout).not.toContain("stillborn");
  });

  test("update without a change is a mistake", async () => {
    const result = await keys("update", website.id);
    expect(result).toEqual({
      exitCode: 2,
      stdout: "",
      stderr:
        "Error: There is nothing to change.\nTry: Give --plan, --per-minute, --per-day, --name, --expires-in, --read-only or --read-write.\n",
    });
  });
});

describe("revoke", () => {
  const question = "for good? [y/N] ";

  test("asks at a terminal, and yes ends the key", async () => {
    const { id } = await makeKey(folder.path, "--plan", "free", "--name", "asked");
    const { exitCode, screen } = await rehomeAtTerminal(["keys", "revoke", id], {
      env,
      answers: [[question, "y\n"]],
    });
    expect(screen).toContain(`End ${id} "asked" ${question}`);
    expect(screen).toContain("is revoked");
    expect(exitCode).toBe(0);
  });

  test.each([
    ["the end of the input", "\u0004", 1],
    ["Ctrl-C", "\u0003", 130],
  ])("leaves the key alone when the answer is %s", async (answer, typed, code) => {
    const { id } = await makeKey(folder.path, "--plan", "free", "--name", `spared by ${answer}`);
    const answers = [[question, typed]] as const;
    const { exitCode } = await rehomeAtTerminal(["keys", "revoke", id], { env, answers });
    expect(exitCode).toBe(code);
    expect(await documented(keyDetailsSchema, "show", id)).toMatchObject({ state: "active" });
  });
});

test("show says of a revoked key that all its secrets ended", async () => {
  const { id } = await makeKey(folder.path, "--plan", "free", "--name", "leaked");
  await keys("rotate", id, "--grace", "90d");
  await keys("revoke", id);
  const { stdout } = await keys("show", id);
  const revoked = /State +revoked since (\S+)/.exec(stdout)?.[1];
  const seconds = (text = "") => Date.parse(text) / 1000;
  const ends = [...stdout.matchAll(/^ {2}rehome_live_.*? made \S+ {2}(\w+) (\S+)$/gm)];
  expect(ends.map(([, word]) => word)).toEqual(["ended", "ended"]);
  // An end is shown to the next full second, a beginning to the last one.
  for (const [, , end] of ends) expect(seconds(end) - seconds(revoked)).toBeWithin(0, 2);
});

describe("on a store whose keys are all of the staging environment", () => {
  const staging = temporaryFolder();
  const onStaging = (args: readonly string[], more: Record<string, string> = {}) =>
    command(["keys", ...args], { env: { REHOME_DATA: staging.path, ...more } });
  const create = ["create", "--plan", "free", "--name", "another"];
  let id: string;

  beforeAll(async () => {
    ({ id } = await makeKey(staging.path, "--plan", "free", "--environment", "staging"));
  });
  afterAll(() => staging[Symbol.dispose]());

  test.each([["create"], ["rotate"]])("%s wants to be told which one it is for", async (name) => {
    const args = name === "create" ? create : ["rotate", id];
    // Without the ends of its windows, which may come while this runs.
    const shown = async () => (await onStaging(["show", id])).stdout.replaceAll(/, until .*/g, "");
    const before = await shown();
    const result = await onStaging(args);
    expect(result).toMatchObject({ exitCode: 2, stdout: "" });
    expect(result.stderr).toContain("but none of the production environment");
    expect(result.stderr).toContain("--environment or REHOME_ENVIRONMENT");
    expect(await shown()).toBe(before);
    const named = await onStaging([...args, "--environment", "staging"]);
    expect(named.stdout).toMatch(/^rehome_test_\w{36}\n$/);
    const other = name === "create" ? [...args.slice(0, -1), "yet another"] : args;
    const byVariable = await onStaging(other, { REHOME_ENVIRONMENT: "staging" });
    expect(byVariable.stdout).toMatch(/^rehome_test_\w{36}\n$/);
  });
});

test("a server without keys shows a command that makes one for it", async () => {
  using parent = temporaryFolder();
  const data = join(parent.path, "the shelter's animals");
  await using server = await serve(data, ["--environment", "staging"]);
  const shown = /No key exists yet: (.*)/.exec(server.stdout())?.[1]?.replace("LABEL", "first");
  const bin = dirname(await executable());
  const child = Bun.spawn(["sh", "-c", shown ?? "exit 9"], {
    env: { ...cleanEnvironment, PATH: `${bin}:${cleanEnvironment.PATH}` },
    stdout: "pipe",
    stderr: "pipe",
  });
  const { exitCode, stdout } = await finished(child);
  expect(exitCode).toBe(0);
  const headers = { authorization: `Bearer ${stdout.trim()}` };
  expect((await fetch(`${server.origin}/v1/pets`, { headers })).status).toBe(200);
});

test("a server whose store ends with it names no command, which could not reach that store", async () => {
  await using server = await serve(undefined, ["--data=:memory:"]);
  expect(server.stdout()).toContain("  No key exists yet: start again with --first-key.");
  await using other = await serve(undefined, ["--data=:memory:", "--first-key"]);
  expect(other.stdout()).toContain("First key, shown only this once");
});

describe("a key's end", () => {
  const made = (name: string) =>
    makeKey(folder.path, "--plan", "free", "--name", name, "--expires-in", "1s");

  test("is moved or taken away, of a key that has expired too", async () => {
    const { id } = await made("trial");
    await Bun.sleep(1_000);
    expect(await documented(keyDetailsSchema, "show", id)).toMatchObject({ state: "expired" });
    const extended = await documented(keySchema, "update", id, "--expires-in", "90d");
    expect(extended).toMatchObject({ state: "active", expiresAt: expect.any(String) });
    const endless = await documented(keySchema, "update", id, "--expires-in", "never");
    expect(endless).toMatchObject({ state: "active", expiresAt: null });
    expect((await keys("update", id, "--expires-in", "soon")).stderr).toContain("or never");
    const lasting = ["--plan", "free", "--name", "lasting one", "--expires-in", "never"];
    expect(await documented(issuedSchema, "create", ...lasting)).toMatchObject({ expiresAt: null });
  });
});
