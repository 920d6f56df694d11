/** Followed lists of a service with a console: previews, pulls, withdrawals, words to explain. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { command } from "../../test/helpers/command.ts";
import { consoleForAll, type Visitor } from "../../test/helpers/console.ts";
import { until } from "../../test/helpers/ask.ts";

const list = { text: "" };
const fake = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(list.text) });
const url = `http://127.0.0.1:${fake.port}/list.csv`;
const own = consoleForAll(["--pull-private", "on"]);
let ana: Visitor;
beforeAll(async () => void (ana = await own.joined("Ana")));
afterAll(() => fake.stop(true));

const head = "Id,Name,Type,Status\n";
const sources = (words: string) =>
  command(["sources", ...words.split(" "), "--data", own.path], {
    env: { REHOME_PULL_PRIVATE: "on" },
  });
const animals = async () => {
  const { stdout } = await command(["pets", "list", "--json", "--data", own.path]);
  return (JSON.parse(stdout) as { name: string; status: string }[]).map(
    ({ name, status }) => `${name} ${status}`,
  );
};
const page = async (path: string) => (await ana.get(path)).text();
const inSpanish = async (path: string) => {
  await ana.post(`/language/es?back=${path}`);
  const text = await page(path);
  await ana.post(`/language/en?back=${path}`);
  return text;
};

test("a list is followed, and the service pulls what is due", async () => {
  list.text = `${head}1,Rex,Dog,Available\n2,Tom,Cat,Adopted\n`;
  const add = `add vet --url ${url} --every 15m --create-categories --yes --accept-guess`;
  expect(await sources(add)).toMatchObject({ exitCode: 0 });
  expect(await animals()).toEqual(["Rex available", "Tom sold"]);
  // What is paused and resumed is due.
  await sources("pause vet");
  list.text = list.text.replace("Available", "Adopted");
  await sources("resume vet");
  await until(async () => (await animals()).includes("Rex sold"), 90_000);
  const shown = await sources("list --json");
  expect(JSON.parse(shown.stdout)).toMatchObject([{ name: "vet", state: "ok", failures: 0 }]);
  list.text = "<!doctype html><title>Sign in</title>";
});

const steer = (what: string, more: Record<string, string> = {}) =>
  ana.submit("/import/sources", { list: "vet", do: what, ...more });

test("the console reads a list now, and held withdrawals are those that were shown", async () => {
  expect(await steer("pull")).toContain("a web page");
  expect(await inSpanish("/import")).toContain("una página web");
  list.text = `${head}1,Rex,Dog,Available\n2,Tom,Cat,Available\n3,Max,Dog,Available\n`;
  expect(await steer("pull")).toContain("up to date");
  expect(await page("/animals/3")).toContain("the list vet");
  list.text = `${head}9,Zoe,Cat,Available\n`;
  const held = await steer("pull");
  expect(held).toMatch(/3 animals any more[^<]*Rex, Tom, Max/);
  const mark = /name="held" value="([^"]+)"/.exec(held)?.[1] ?? "";
  const other = await ana.post("/import/sources", { list: "vet", do: "withdraw", held: "other" });
  expect(other.status).toBe(409);
  expect(await animals()).toHaveLength(4);
  expect(await steer("withdraw", { held: mark })).toContain("Undo");
  expect(await animals()).toEqual(["Zoe available"]);
});

test("a word that a followed list did not have before is explained on Import, in its reader's language", async () => {
  list.text += "10,Uma,Cat,Kennel 4\n";
  expect(await steer("pull")).toContain("What do these words mean?");
  expect(await page("/animals")).toContain(`aria-describedby="mark-import"`);
  expect(await inSpanish("/import")).toContain("¿Qué significan estas palabras?");
  await steer("explain", { "word-Kennel 4": "available" });
  expect(await animals()).toEqual(["Zoe available", "Uma available"]);
  expect(await page("/animals")).not.toContain("mark-import");
});
