/**
 * The console in Spanish, page by page: a word that only the English list has is on none of them.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { counts } from "../../../src/features/console/words/labels.ts";
import { languages } from "../../../src/features/console/words/index.ts";
import { sent, settled, type Visitor } from "../../helpers/console.ts";
import { consoleHere, type ConsoleHere } from "../../helpers/console-here.ts";
import { addresses } from "../../helpers/console-pages.ts";
import { open } from "../../helpers/plain-browser.ts";

let here: ConsoleHere;
let olga: Visitor;

beforeAll(async () => {
  here = await consoleHere();
  olga = await here.joined("Zzolga", "operator");
  await olga.post("/language/es?back=/animals");
});
afterAll(() => here[Symbol.asyncDispose]());

/** The texts of a list of words; a function's with numbers, or a plan, for what it shows. */
function textsOf(words: unknown): string[] {
  if (typeof words === "string") return [words];
  if (typeof words === "object" && words !== null) return Object.values(words).flatMap(textsOf);
  if (typeof words !== "function") return [];
  const show = (...values: readonly unknown[]) => String(words(...values));
  return ["1", "2"].map((value) => show(...Array.from({ length: words.length }, () => value)));
}

const wordsOf = (text: string) =>
  (text.match(/[\p{L}\p{M}]{3,}/gu) ?? []).map((word) => word.toLowerCase());

const countsOf = (...at: readonly number[]) =>
  Object.values(counts).flatMap((words) => words.filter((_, each) => at.includes(each)));
const spanish = new Set([...textsOf(languages.es.words), ...countsOf(1, 2)].flatMap(wordsOf));
const english = new Set(
  [...textsOf(languages.en.words), ...countsOf(0)]
    .flatMap(wordsOf)
    .filter((word) => !spanish.has(word)),
);

/** What a person reads of a page: its texts, and what helps and labels say. */
function shownTexts(page: string): string {
  const read = page
    .replace(/<(script|style)\b[\s\S]*?<\/\1>/g, "")
    // A language is called by its own name; codes are what they are.
    .replace(/<button[^>]*lang="en"[\s\S]*?<\/button>/g, "")
    .replace(/<code>[\s\S]*?<\/code>|\b(?:key|rehome_live)_\w+/g, "");
  const said = [
    ...read.matchAll(
      /(?:\b(?:aria-label|title|placeholder|alt)|name="description"\s+content)="([^"]*)"/g,
    ),
  ];
  return `${read.replace(/<[^>]*>/g, " ")} ${said.map(([, text]) => text).join(" ")}`;
}

/** The English words on a page. */
function found(page: string): string[] {
  expect(page).toContain('<html lang="es"');
  return [...new Set(wordsOf(shownTexts(page)).filter((word) => english.has(word)))];
}

/** Walks over addresses, and returns the English words by address. */
async function walked(paths: readonly string[]): Promise<Record<string, string[]>> {
  const entries: [string, string[]][] = [];
  for (const path of paths) {
    const answer = await olga.get(path);
    const words = answer.status === 303 ? [] : found(await answer.text());
    if (words.length > 0) entries.push([path, words]);
  }
  return Object.fromEntries(entries);
}

test("the English list has words of its own, and a page of them is found", async () => {
  expect(english.size).toBeGreaterThan(300);
  const ben = await here.joined("Zzben");
  const page = (await (await ben.get("/animals")).text()).replace('lang="en"', 'lang="es"');
  expect(found(page)).toContain("animals");
});

test("with animals, an import, a key and people in it, every page is Spanish", async () => {
  const send = (content: string) => sent(olga, "lista.csv", content);
  const all: Record<string, string[]> = {};
  const look = async (what: string, page: string | Promise<string>) => {
    const words = found(await page);
    if (words.length > 0) all[what] = words;
  };
  const posted = async (path: string, fields: Record<string, string> = {}) => {
    const answer = await olga.post(path, fields);
    const to = answer.headers.get("location");
    return to === null ? answer.text() : visit(to);
  };
  const visit = async (path: string) => (await olga.get(path)).text();

  /** Presses a button of the page of Import, and waits for what it begins. */
  const press = async (button: string, fields: Record<string, string | boolean> = {}) => {
    await (await open(olga, "/import")).type(fields).press(button);
    return settled(olga);
  };
  await send("Rufname,Tierart,Stand\nKiki,Kwala,zzz\n,Kwala,zzz\n");
  await look("columns to choose", press("Elegir las columnas"));
  const columns = { "column-name": "Rufname", "column-categoryId": "Tierart" };
  const see = "Ver qué cambiaría";
  await look("words to choose", press(see, { ...columns, "column-status": "Stand" }));
  await look("an animal without a name", press(see, { "word-zzz": "available" }));
  await look("imported by columns", press("Importar"));
  await look("no list", send("%PDF-1.7\n"));
  const list =
    "name,categoryId,status\nZuri,7,available\nMilo,siete,available\n,7,sold\nKoko,7,mmm\n" +
    `Kim,7\n"${"x".repeat(1_001)}",7,sold\n`;
  await look("preview", send(list));
  await look("imported", press("Importar", { skipBad: true }));

  await posted("/animals/new", { name: "Rikku", category: "Kwala", status: "pending" });
  await look("changed", posted("/animals", { tap: "1 available sold" }));
  const removal = await olga.post("/animals/1/remove");
  const id = /change=(\d+)/.exec(removal.headers.get("location") ?? "")?.[1] ?? "";
  await look("removed", visit("/animals/1"));
  await look("undone", posted(`/changes/${id}/undo`, { back: "/animals" }));
  const [, kwala = ""] = /categories\/(\d+)">Kwala</.exec(await visit("/categories")) ?? [];

  const key = { plan: "free", perMinute: "", perDay: "", expires: "" };
  const made = await posted("/keys/new", { name: "zzweb", ...key });
  await look("key made", made);
  const path = /href="(\/keys\/key_\w+)"/.exec(made)?.[1] ?? "";
  await look("person invited", posted("/people", { name: "Zzeva", role: "staff" }));
  await look("wrong animal", posted("/animals/new", { name: "", category: "", status: "mmm" }));
  await look("wrong key", posted("/keys/new", { ...key, name: "", expires: "mmm", plan: "mmm" }));
  await look("nothing", visit("/animals/99999"));

  const ids: Readonly<Record<string, string>> = {
    "/animals/:id": "1",
    "/changes/:id": id,
    "/people/:id/remove": (await here.people.list()).at(-1)?.id ?? "",
    "/categories/:id": kwala,
    "/keys/:id": path.slice("/keys/".length),
  };
  const { staff, operators } = addresses();
  const pages = [...staff, ...operators]
    .filter(({ method, path: each }) => method === "GET" && each !== "/")
    .map(({ path: each }) => each)
    .filter((each) => !each.endsWith("/xlsx"))
    .map((each) => each.replace(":id", ids[each.replace(/\/merge$/, "")] ?? ids[each] ?? "no id"));
  Object.assign(all, await walked(pages));
  // A column is called as in the file.
  expect(all).toEqual({ preview: ["status", "name"] });
});
