/** Followed lists on the console of the compiled executable: how they are, and withdrawals. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { temporaryFolder } from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import { invite, serveConsole, Visitor, type RunningConsole } from "../../test/helpers/console.ts";

const folder = temporaryFolder();
const data = ["--data", folder.path];
const head = "Id,Name,Type,Status\n";
const four = `${head}1,Rex,Dog,Available\n2,Tom,Cat,Available\n3,Ida,Cat,Available\n4,Ben,Dog,RTF now\n5,Max,Dog,Adopted\n`;
const list = { text: four };
const fake = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(list.text) });
const url = `http://127.0.0.1:${fake.port}/list.csv`;
let server: RunningConsole;
let ana: Visitor;

beforeAll(async () => {
  server = await serveConsole(folder.path, ["--pull-private", "on"]);
  ana = await new Visitor(server.console).join(await invite(folder.path, "Ana", "staff"));
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
  await fake.stop(true);
  folder[Symbol.dispose]();
});

const page = async (path: string) => (await ana.get(path)).text();
const steer = (what: string, more: Record<string, string> = {}) =>
  ana.submit("/import/sources", { list: "vet", do: what, ...more });
const animals = async () => {
  const { stdout } = await command(["pets", "list", "--json", "--data", folder.path]);
  return (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name);
};

test("a list is read now, says what is wrong, and held withdrawals are those that were shown", async () => {
  const words = ["--status", "RTF now=gone", "--accept-guess", "--create-categories", "--yes"];
  const made = await command(["sources", "add", "vet", "--url", url, ...words, ...data], {
    env: { REHOME_PULL_PRIVATE: "on" },
  });
  expect([made.exitCode, made.stderr]).toEqual([0, expect.any(String)]);
  expect(await animals()).toEqual(["Rex", "Tom", "Ida", "Max"]);

  // A word that was read by its sense stays agreed to.
  list.text = four.replace("Ida,Cat,Available", "Ida,Cat,RTF now");
  await ana.post("/import/sources", { list: "vet", do: "pull" });
  expect(await animals()).toEqual(["Rex", "Tom", "Max"]);
  const up = await page("/import");
  expect(up).toContain("up to date");
  expect(await page("/animals/3")).toContain("the list vet");

  list.text = "<!doctype html><title>Sign in</title>";
  expect(await steer("pull")).toContain("a web page instead of a list");
  await ana.post("/language/es?back=/import");
  expect(await page("/import")).toContain("una página web en lugar de una lista");
  await ana.post("/language/en?back=/import");

  list.text = `${head}9,Zoe,Cat,Available\n`;
  const held = await steer("pull");
  expect(held).toMatch(/3 animals any more[^<]*Rex, Tom, Max/);
  const mark = /name="held" value="([^"]+)"/.exec(held)?.[1] ?? "";
  const other = await ana.post("/import/sources", { list: "vet", do: "withdraw", held: "other" });
  expect(other.status).toBe(409);
  expect(await animals()).toEqual(["Rex", "Tom", "Max", "Zoe"]);
  expect(await steer("withdraw", { held: mark })).toContain("Undo");
  expect(await animals()).toEqual(["Zoe"]);
}, 60_000);

test("a word that a followed list did not have before is explained on Import, in its reader's language", async () => {
  list.text = `${head}9,Zoe,Cat,Available\n10,Uma,Cat,Kennel 4\n`;
  expect(await steer("pull")).toContain("What do these words mean?");
  const start = await page("/animals");
  expect(start).toContain(`aria-describedby="mark-import"`);
  await ana.post("/language/es?back=/import");
  expect(await page("/import")).toContain("¿Qué significan estas palabras?");
  await ana.post("/language/en?back=/import");
  await steer("explain", { "word-Kennel 4": "available" });
  expect(await animals()).toEqual(["Zoe", "Uma"]);
  expect(await page("/animals")).not.toContain("mark-import");
}, 60_000);
