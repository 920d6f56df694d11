/** Another process on the data folder holds nobody up for longer than --store-timeout says. */
import { expect, test } from "bun:test";
import { callerOf, until } from "../../test/helpers/ask.ts";
import { makeKey, roomy, served, temporaryFolder } from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import { holdCatalogue } from "../../test/helpers/counters.ts";
import { isOnPostgres } from "../../test/helpers/store-under-test.ts";

test("while the catalogue is locked reads go on, and creates get 503", async () => {
  await using server = await served(["--store-timeout", "2000"]);
  const { data, key } = server;
  const { key: fresh } = await makeKey(data, ...roomy);
  const { create, animals } = callerOf(server, key);
  {
    await using _held = await holdCatalogue(data);
    const over = new AbortController();
    const creating = create("Refused").finally(() => over.abort());
    let reads = 0;
    for (; !over.signal.aborted; reads += 1) {
      // A key that the server has not seen yet is found too.
      const answer = await callerOf(server, reads % 2 === 0 ? key : fresh).get();
      expect(answer.status).toBe(200);
    }
    // A loop that waited with the create would have answered one, when it was refused.
    expect(reads).toBeGreaterThan(5);
    const refused = await creating;
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(refused.headers.get("x-ratelimit-remaining")).toMatch(/^\d+$/);
    expect(await refused.json()).toEqual({
      code: "unavailable",
      message: isOnPostgres
        ? "The store cannot be used at the moment."
        : "The animal could not be stored.",
      status: 503,
    });
  }
  // On a busy machine a database may be late once more.
  await until(async () => (await create("Stored")).status === 201);
  // What was refused is not stored later on either, but by a database that hears too late of it.
  if (isOnPostgres) return;
  expect((await animals()).map(({ name }) => name)).not.toContain("Refused");
});

test("a command that waits in vain for the lock says what holds it up and what to do", async () => {
  using folder = temporaryFolder();
  await makeKey(folder.path);
  await using _held = await holdCatalogue(folder.path);
  const commands = [
    ["keys", "create", "--plan", "free", "--name", "late"],
    ["pets", "add", "--name", "Rex", "--category", "1"],
  ];
  const ended = commands.map(async (args) => command([...args, "--data", folder.path]));
  for (const { exitCode, stdout, stderr } of await Promise.all(ended)) {
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    // A database that is slow is warned of before the command gives up.
    expect(stderr).toMatch(
      /^(?:Warning: .*\n)*Error: The store cannot be used at the moment: .*(?:another process holds its lock|did not answer in time|lock timeout)\.\nTry: /,
    );
  }
});
