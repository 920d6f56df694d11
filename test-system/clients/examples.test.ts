/** The programs in examples/, on the compiled executable. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { callerOf } from "../../test/helpers/ask.ts";
import { type RunningBinary, serveForAll } from "../../test/helpers/binary.ts";
import { limitedProxy } from "../../test/helpers/limited-proxy.ts";
import { finished } from "../../test/helpers/finished.ts";

const examples = join(import.meta.dir, "../../examples");
const animalsCount = 205;
const biggest = "9223372036854775807";
const beyondDouble = "9007199254740993";
let server: RunningBinary;
let key: string;

serveForAll(async (running, ofServer) => {
  [server, key] = [running, ofServer];
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  for (let at = 0; at < animalsCount; at += 1) {
    const status = at % 2 === 0 ? ',"status":"sold"' : "";
    const categoryId = at === 0 ? biggest : at === animalsCount - 1 ? beyondDouble : String(at);
    const body = `{"name":"Pet ${at + 1}","categoryId":${categoryId}${status}}`;
    await fetch(`${server.origin}/v1/pets`, { method: "POST", body, headers });
  }
});

const run = (command: readonly string[], origin: string, credential = key) =>
  finished(command, {
    env: { ...process.env, FORCE_COLOR: "0", API_URL: `${origin}/v1`, API_KEY: credential },
  });

const tabs = (stdout: string) =>
  stdout
    .trim()
    .split("\n")
    .map((row) => row.split("\t"));
/**
 * `"id":1,"name":"Pet 1","categoryId":7,"status":"sold"` of every page, read as text so that no
 * number is rounded.
 */
const pages = (stdout: string) =>
  [
    ...stdout.matchAll(
      /\{"id":(\d+),"name":"([^"]*)","categoryId":(-?\d+)(?:,"status":"(\w+)")?\}/g,
    ),
  ].map(([, id = "", name = "", categoryId = "", status = "-"]) => [id, name, categoryId, status]);

/** The first suite needs Node alone: a language that is not there is left out. */
const isThere = ({ command: [program = ""] }: { command: readonly string[] }) =>
  Bun.which(program) !== null;
const programs = [
  { name: "TypeScript", command: [process.execPath, join(examples, "all-animals.ts")], rows: tabs },
  { name: "Python", command: ["python3", join(examples, "all_animals.py")], rows: tabs },
  { name: "shell", command: ["sh", join(examples, "all-animals.sh")], rows: pages },
].filter(isThere);
test.each(programs)("all animals in $name", async ({ command, rows }) => {
  const { exitCode, stdout, stderr } = await run(command, server.origin);
  expect([exitCode, stderr]).toEqual([0, ""]);
  const found = rows(stdout);
  const ids = Array.from({ length: animalsCount }, (_, at) => at + 1);
  expect(found.map(([id]) => Number(id))).toEqual(ids);
  expect(found[0]).toEqual(["1", "Pet 1", biggest, "sold"]);
  expect(found[1]).toEqual(["2", "Pet 2", "1", "-"]);
  expect(found.at(-1)?.[2]).toBe(beyondDouble);

  const sold = rows((await run([...command, "sold"], server.origin)).stdout);
  expect(sold).toHaveLength(Math.ceil(animalsCount / 2));
  expect(new Set(sold.map(([, , , status]) => status))).toEqual(new Set(["sold"]));

  const refused = await run(command, server.origin, "nobody");
  expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
  expect(refused.stderr).toMatch(/^Error: .*unauthorized.*The API key is not valid/);
});

test("each of them waits as long as it is told, and longer each time", async () => {
  const waits = programs.map(async ({ command, rows }) => {
    const proxy = limitedProxy(server.origin, {
      1: { status: 429, retryAfterSeconds: 1 },
      2: { status: 503, retryAfterSeconds: 1 },
    });
    const { exitCode, stdout, stderr } = await run(command, proxy.origin);
    await proxy.stop();
    expect(exitCode).toBe(0);
    expect(rows(stdout)).toHaveLength(animalsCount);
    expect(stderr.match(/Waiting/g)).toHaveLength(2);
    // Three pages and two refusals of the second one.
    expect(proxy.arrivals).toHaveLength(5);
    const [, second = 0, again = 0, atLast = 0] = proxy.arrivals;
    expect(again - second).toBeGreaterThanOrEqual(1_000);
    expect(atLast - again).toBeGreaterThanOrEqual(2_000);
  });
  await Promise.all(waits);
});

test.each(
  [
    { name: "TypeScript", command: [process.execPath, join(examples, "add-animal.ts")] },
    { name: "Python", command: ["python3", join(examples, "add_animal.py")] },
  ].filter(isThere),
)("adding an animal in $name stores it once, though the first answer is lost", async (program) => {
  const { name, command } = program;
  const proxy = limitedProxy(server.origin, { 0: { status: 503, retryAfterSeconds: 1 } });
  const label = `Only once, ${name} é`;
  const added = await run([...command, label, biggest, "pending"], proxy.origin);
  await proxy.stop();
  expect(added).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("Waiting") });
  expect(added.stdout).toContain(label);
  expect(added.stdout).toContain(biggest);
  const stored = await callerOf(server, key).animals();
  expect(stored.filter((animal) => animal.name === label)).toHaveLength(1);

  const wrong = await run([...command, "Pip", "abc"], server.origin);
  expect(wrong).toMatchObject({ exitCode: 1, stdout: "" });
  expect(wrong.stderr).toMatch(/^Error: give a name, the number of a category[^\n]*\n$/);
});

test("the session with curl says what its comments promise", async () => {
  const { exitCode, stdout, stderr } = await run(
    ["sh", join(examples, "session.sh")],
    server.origin,
  );
  expect([exitCode, stderr]).toEqual([0, ""]);
  const [, add = "", again = "", list = "", next = "", get = "", refused = ""] =
    stdout.split(/^# .*$/m);
  expect(add).toContain("HTTP/1.1 201 Created");
  expect(add.toLowerCase()).toContain("x-ratelimit-remaining:");
  expect(add).toContain(`"name":"Mia","categoryId":${biggest}}`);
  const shadows = again.match(/^\{.*"name":"Shadow".*\}/gm) ?? [];
  expect([shadows.length, new Set(shadows).size]).toEqual([2, 1]);
  expect(again.match(/^idempotent-replayed: true/gim)).toHaveLength(1);
  expect(list).toContain('rel="next"');
  expect(list).toContain(`[{"id":1,"name":"Pet 1","categoryId":${biggest},"status":"sold"}]`);
  expect(next).toContain('[{"id":2,');
  expect(get.toLowerCase()).toContain("sunset: thu, 05 dec 2030 00:00:00 gmt");
  expect(get).toContain('{"id":1,"name":"Pet 1"');
  const codes = refused
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { code: string }).code);
  expect(codes).toEqual(["unauthorized", "invalid_request", "invalid_request"]);
});
