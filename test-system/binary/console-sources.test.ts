/** Followed lists on the console of the compiled executable, from an address to a withdrawal. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { temporaryFolder } from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import {
  invite,
  previewOf,
  serveConsole,
  settled,
  Visitor,
  type RunningConsole,
} from "../../test/helpers/console.ts";

const folder = temporaryFolder();
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
/** The page that a form of the Import page leads to, once its work is done. */
async function sent(path: string, fields: Record<string, string>): Promise<string> {
  const shown = await ana.submit(path, fields);
  return shown.includes("data-poll") ? settled(ana) : shown;
}
const steer = (what: string, more: Record<string, string> = {}) =>
  ana.submit("/import/sources", { list: "vet", do: what, ...more });
const animals = async () => {
  const { stdout } = await command(["pets", "list", "--json", "--data", folder.path]);
  return (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name);
};

test("an address is shown, followed, pulled, paused; held withdrawals are those that were shown", async () => {
  const wrong = await ana.post("/import/address", { url: "ftp://x/", list: "a b" });
  expect(wrong.status).toBe(400);
  const said = await wrong.text();
  expect(said).toContain("starts with https://");
  expect(said).toContain("without blanks and colons");

  const preview = await sent("/import/address", { url, list: "vet", whole: "yes" });
  expect(preview).toContain("Follow this address");
  expect(await animals()).toEqual([]);
  const choices = { source: "vet", complete: "yes", interval: "900000", follow: "yes" };
  const followed = await sent("/import/run", { ...(await previewOf(ana)), ...choices });
  expect(followed).toContain("The list vet is followed from now on.");
  expect(await animals()).toEqual(["Rex", "Tom", "Ida", "Max"]);

  // A word that was read by its sense stays agreed to.
  list.text = four.replace("Ida,Cat,Available", "Ida,Cat,RTF now");
  await ana.post("/import/sources", { list: "vet", do: "pull" });
  expect(await animals()).toEqual(["Rex", "Tom", "Max"]);
  const up = await page("/import");
  expect(up).toContain("up to date");
  expect(up).toContain("every 15 minutes");
  expect(await page("/animals/3")).toContain("the list vet");

  list.text = "<!doctype html><title>Sign in</title>";
  expect(await steer("pull")).toContain("a web page instead of a list");
  await ana.post("/language/es?back=/import");
  expect(await page("/import")).toContain("una página web en lugar de una lista");
  await ana.post("/language/en?back=/import");
  expect(await steer("pause")).toContain(">Resume<");
  expect(await steer("resume")).toContain(">Pause<");

  list.text = `${head}9,Zoe,Cat,Available\n`;
  const held = await steer("pull");
  expect(held).toMatch(/3 animals any more[^<]*Rex, Tom, Max/);
  const mark = /name="held" value="([^"]+)"/.exec(held)?.[1] ?? "";
  const other = await ana.post("/import/sources", { list: "vet", do: "withdraw", held: "other" });
  expect(other.status).toBe(409);
  expect(await animals()).toEqual(["Rex", "Tom", "Max", "Zoe"]);
  expect(await steer("withdraw", { held: mark })).toContain("Undo");
  expect(await animals()).toEqual(["Zoe"]);
  const taken = await ana.post("/import/address", { url, list: "vet" });
  expect(await taken.text()).toContain("This name is taken");
}, 60_000);
