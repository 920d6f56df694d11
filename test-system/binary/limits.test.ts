/** The limits of the executable, from outside: several processes, restarts, kills. */
import { expect, test } from "bun:test";
import {
  makeKey,
  perDay,
  serve,
  temporaryFolder,
  type RunningBinary,
} from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import { type Answer, ask, until } from "../../test/helpers/ask.ts";

/** Starts servers on one folder, which end with it. */
function folderOfServers() {
  const folder = temporaryFolder();
  const running: RunningBinary[] = [];
  return {
    path: folder.path,
    async start(env: Record<string, string> = {}) {
      const server = await serve(folder.path, [], { env });
      running.push(server);
      return server;
    },
    async [Symbol.asyncDispose]() {
      for (const server of running) await server[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

/** `count` requests, `connections` at a time, to the origins in turn. Leaves failures out. */
async function hammer(
  origins: readonly string[],
  key: string,
  count: number,
  connections = 64,
  onAnswer: () => unknown = () => undefined,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < count; at = next++) {
      // The server may be killed meanwhile.
      const answer = await ask(origins[at % origins.length] ?? "", key).catch(() => undefined);
      if (answer === undefined) continue;
      answers.push(answer);
      onAnswer();
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  return answers;
}

const admittedOf = (answers: readonly Answer[]) =>
  answers.filter(({ status }) => status === 200).length;

test("four processes admit exactly the limits of six keys, of which a clean stop loses nothing", async () => {
  await using at = folderOfServers();
  const limit = 120;
  const keys: string[] = [];
  while (keys.length < 6) keys.push((await makeKey(at.path, ...perDay(limit))).key);
  const first = await at.start();
  const alone = keys.map((key) => hammer([first.origin], key, 37, 7));
  expect((await Promise.all(alone)).map(admittedOf)).toEqual(keys.map(() => 37));
  expect(await first.stop()).toBe(0);
  const servers = await Promise.all([1, 2, 3, 4].map(() => at.start()));
  const origins = servers.map(({ origin }) => origin);
  const together = await Promise.all(keys.map((key) => hammer(origins, key, limit * 3, 16)));
  // Two processes that take from the same keys wait for each other, and never in a circle.
  const refused = together.flat().filter(({ status }) => status !== 200);
  expect(refused.filter(({ code }) => code !== "rate_limited")).toEqual([]);
  expect(together.map(({ length }) => length)).toEqual(keys.map(() => limit * 3));
  expect(together.map(admittedOf)).toEqual(keys.map(() => limit - 37));
  for (const server of servers) expect(await server.stop()).toBe(0);
});

test("a kill -9 under load admits no more, and loses a second's worth and what was in flight", async () => {
  await using at = folderOfServers();
  const limit = 1_200;
  const connections = 8;
  const { key } = await makeKey(at.path, ...perDay(limit));
  const kills = 4;
  let admitted = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const { origin, stop } = await at.start();
    let answered = 0;
    const load = hammer([origin], key, 240, connections, () => (answered += 1));
    await until(() => answered > 40 * kill);
    await stop("SIGKILL");
    admitted += admittedOf(await load);
  }
  const last = await at.start();
  admitted += admittedOf(await hammer([last.origin], key, limit + 100));
  expect(admitted).toBeLessThanOrEqual(limit);
  expect(admitted).toBeGreaterThanOrEqual(limit - kills * (limit / 60 + connections));
});

test("every change from the command line binds every process at its next request, days ending at midnight UTC", async () => {
  await using at = folderOfServers();
  const { key, id } = await makeKey(at.path, "--plan", "free");
  // Where days begin at another minute too.
  const servers = [await at.start({ TZ: "Asia/Kathmandu" }), await at.start()];
  const change = async (...args: string[]) => {
    const run = await command(["keys", ...args, "--data", at.path, "--json"]);
    expect([run.exitCode, run.stderr]).toEqual([0, run.stderr]);
    return JSON.parse(run.stdout) as { key?: string };
  };
  const answers = (credential = key) =>
    Promise.all(servers.map(({ origin }) => ask(origin, credential)));
  const codes = async (credential = key) =>
    (await answers(credential)).map(({ status, code }) => code ?? status);
  expect(await codes()).toEqual([200, 200]);
  await change("ban", id, "--for", "1h");
  expect(await codes()).toEqual(["key_banned", "key_banned"]);
  await change("unban", id);
  expect(await codes()).toEqual([200, 200]);
  await change("update", id, "--plan", "enterprise", "--per-minute", "1", "--per-day", "1");
  const midnight = (Math.floor(Date.now() / 86_400_000) + 1) * 86_400;
  const spent = { status: 429, code: "rate_limited", resetSeconds: midnight };
  expect(await answers()).toEqual([spent, spent].map((each) => expect.objectContaining(each)));
  await change("update", id, "--plan", "business");
  const up = { status: 200, limit: 1_000 };
  expect(await answers()).toEqual([up, up].map((each) => expect.objectContaining(each)));
  const { key: next = "" } = await change("rotate", id, "--grace", "0");
  expect(await codes()).toEqual(["unauthorized", "unauthorized"]);
  expect(await codes(next)).toEqual([200, 200]);
  await change("revoke", id);
  expect(await codes(next)).toEqual(["unauthorized", "unauthorized"]);
});
