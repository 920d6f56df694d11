/** The staff's console of the compiled executable: what it loads, and what attacks come to. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { readXlsx } from "hucre/xlsx";
import { languages } from "../../src/features/console/words/index.ts";
import { command } from "../../test/helpers/command.ts";
import { consoleForAll } from "../../test/helpers/console.ts";
import { childrenOf } from "../../test/helpers/family.ts";
import { until } from "../../test/helpers/ask.ts";

const own = consoleForAll();
const { joined } = own;

test("a workbook is exported: what writes it is loaded where it is wanted", async () => {
  const ana = await joined("Ana");
  const book = await readXlsx(await (await ana.get("/export/xlsx")).bytes());
  expect(book.sheets[0]?.rows[0]).toContain("Number at the source");
});

test("Health tells what doctor finds", async () => {
  const page = await (await (await joined("Olga", "operator")).get("/health")).text();
  const { stdout } = await command(["doctor", "--data", own.path, "--port", "1", "--json"]);
  const { checks } = JSON.parse(stdout) as { checks: { check: string }[] };
  expect(checks.length).toBeGreaterThan(3);
  for (const { check } of checks) {
    const [title] = languages.en.words.health.checks[check] ?? [check];
    expect(page).toContain(`<strong>${title}</strong>`);
  }
});

test("a stranger sends large forms in vain: none is read, and none comes back", async () => {
  const peakMiB = () => {
    const status = readFileSync(`/proc/${childrenOf(own.server)[0]}/status`, "utf8");
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
  };
  const before = peakMiB();
  const ola = await joined("Ola");
  const type = "application/x-www-form-urlencoded";
  const headers = { origin: own.server.console, "content-type": type };
  // As text: URLSearchParams would take the test minutes where other work runs.
  const form = { method: "POST", headers, body: "=&".repeat(524_288) };
  const send = async () => {
    const response = await fetch(`${own.server.console}/animals`, form);
    return { status: response.status, bytes: (await response.arrayBuffer()).byteLength };
  };
  const all = await Promise.all(Array.from({ length: 40 }, send));
  for (const { status, bytes } of all) {
    expect(status).toBe(401);
    expect(bytes).toBeLessThan(64 * 1024);
  }
  expect((await ola.get("/animals")).status).toBe(200);
  expect(peakMiB() - before).toBeLessThan(100);
});

test("a stranger changes nothing by a form that was on its way when they were removed", async () => {
  const [xenia, yusuf] = [await joined("Xenia", "operator"), await joined("Yusuf", "operator")];
  const uploads = () => readdirSync(own.path).filter((name) => name.includes("console-upload"));
  const form = new FormData();
  form.set("file", new File(["name,categoryId,status\nRex,1,sold\n"], "a.csv"));
  await xenia.submit("/import", form);
  expect(uploads()).toHaveLength(1);
  const ends = [
    xenia.unfinished("/people", "name=Eve&role=operator"),
    xenia.unfinished("/keys/new", "name=eve&plan=free"),
  ];
  // All have been let in when there is room for no other one.
  ends.push(...Array.from({ length: 6 }, () => xenia.unfinished("/animals")));
  await until(async () => (await xenia.post("/animals", { name: "Late" })).status === 503);
  expect(await command(["people", "remove", "Xenia", "--data", own.path])).toMatchObject({
    exitCode: 0,
  });
  for (const end of ends) expect((await end()).status).toBe(403);
  for (const path of ["/people", "/keys"]) {
    expect(await (await yusuf.get(path)).text()).not.toMatch(/\beve\b/i);
  }
  // Their list goes with them.
  await until(() => uploads().length === 0);
});
