/** What an operator is told of unknown words for the status, and that the remedy works as it is. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { catalogueOf } from "../../../src/features/import/catalogue.ts";
import { Rejects, refusedText } from "../../../src/features/import/commands/import-report.ts";
import { mappedFormat, parseFieldMap } from "../../../src/features/import/formats/field-map.ts";
import { parseStatusWords, Statuses } from "../../../src/features/import/formats/statuses.ts";
import { importAnimals } from "../../../src/features/import/import.ts";
import type { Store } from "../../../src/storage/contract.ts";
import { openTestStore } from "../../helpers/store-under-test.ts";
import { inPieces } from "./helpers.ts";

let store: Store;
beforeEach(async () => {
  store = await openTestStore({ clock: () => 0 });
});
afterEach(async () => {
  await store.close();
});

const format = mappedFormat(parseFieldMap("name=Name,categoryId=Species,status=State"));

async function take(
  rows: readonly string[],
  { statuses = new Statuses(), createCategories = true } = {},
) {
  const csv = `Name,Species,State\n${rows.join("\n")}\n`;
  return await importAnimals(catalogueOf(store), {
    input: inPieces(csv, 500),
    read: { format, statuses },
    categories: [],
    createCategories,
    skipBad: false,
    dryRun: true,
    actor: "tester",
    nowMs: () => 1_000,
    onReject: () => {},
    onProgress() {},
    sleep: async () => {},
    stop: new AbortController().signal,
  });
}

const told = async (rows: readonly string[], options?: Parameters<typeof take>[1]) =>
  refusedText(await take(rows, options), Rejects.open(undefined, false));

/** The words that the text proposes for `--status`, read as the option reads them. */
function proposed(text: string): ReturnType<typeof parseStatusWords> {
  const option = /--status (?:'((?:[^']|'\\'')*)'|(\S+?))\. /.exec(text);
  return parseStatusWords([(option?.[1] ?? option?.[2] ?? "").replaceAll("'\\''", "'")]);
}

test("are listed once each with their counts, however many there are", async () => {
  const words = Array.from({ length: 120 }, (_, at) => `Zone ${at}`);
  const rows = words.flatMap((word) => [`Rex,Dog,${word}`, `Ada,Dog,${word.toUpperCase()}`]);
  const text = await told([...rows, "Kim,,Available"]);
  expect(text).toContain("Species: expected the name of a category, found nothing");
  expect(text).toStartWith("241 of 241 records cannot be imported, so nothing would be changed.\n");
  expect(text).not.toContain("All of them are in");
  const listed = text.split("\n").filter((line) => line.includes("unknown status"));
  expect(listed).toEqual(
    words.map(
      (word, at) => `  2  State: unknown status "${word}" (lines ${at * 2 + 2}, ${at * 2 + 3})`,
    ),
  );
  expect(text).not.toContain("more causes");
  expect(proposed(text)).toEqual(new Map(words.map((word) => [word.toLowerCase(), "gone"])));
});

test("do not hide other causes, of which the first 20 are shown", async () => {
  const kinds = Array.from({ length: 25 }, (_, at) => `Rex,Kind ${at},Available`);
  const text = await told([...kinds, "Ada,Kind 0,Zone 1"], { createCategories: false });
  expect(text).toContain('unknown status "Zone 1"');
  expect(text.match(/the category "Kind \d+" is not known/g)).toHaveLength(20);
  expect(text).toContain("  and 5 more causes\n");
});

test("are taken with the proposal as it stands, whatever is in them", async () => {
  const long = "at the vet in the next town until the stitches are out";
  const words = [
    "a, b",
    "x=y",
    'the "good" home',
    "l'été",
    `${long} on Monday`,
    `${long} on Friday`,
  ];
  const rows = [...words, "???", "!!!"].map((word) => `Rex,Dog,"${word.replaceAll('"', '""')}"`);
  const text = await told(rows);
  const again = await take(rows, { statuses: new Statuses(proposed(text)) });
  // What has no letters is no word that --status could name.
  expect(again.causes.map(({ unknownStatus }) => unknownStatus)).toEqual(["???", "!!!"]);
  expect(again.rejected).toBe(2);
});
