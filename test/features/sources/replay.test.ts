/** A year of a shelter's public list, in 18 versions, whose words are explained as they come. */
import { expect, test } from "bun:test";
import { hourMs } from "../../../src/domain/clock.ts";
import { previewImport } from "../../../src/features/import/import.ts";
import { prepare } from "../../../src/features/import/understand/propose.ts";
import { type Meaning, statusKey } from "../../../src/features/import/understand/words.ts";
import {
  findFollowed,
  follow,
  pull,
  type Pulling,
  setSource,
  stateOf,
  waitingWords,
} from "../../../src/features/sources/pull.ts";
import { openTestStore } from "../../helpers/store-under-test.ts";

/** Dogs by the word for their status, from fetch-wi-rescue/fetch-dogs-data. */
interface Sample {
  readonly at: number;
  readonly ids: Readonly<Record<string, readonly number[]>>;
}

/** What the words mean, as somebody there would say. */
const meanings: Readonly<Record<string, Meaning>> = {
  Available: "available",
  "Not available": "gone",
  DiTC: "available",
  "M&G": "pending",
  "Pending Adoption": "pending",
  "Foster to Adopt": "pending",
  "With Sitter": "available",
  Boarding: "gone",
  "Medical Hold": "gone",
  Hospice: "gone",
  "Behavioral hold": "gone",
  "Available In-Shelter": "available",
};
const name = "feed";

function textOf({ ids }: Sample): string {
  const animals = Object.entries(ids).flatMap(([Status, all]) =>
    all.map((id) => {
      return { ID: `${id}`, "Internal-ID": `9${id}`, Name: `Dog ${id}`, Type: "Dog", Status };
    }),
  );
  return JSON.stringify({ count: animals.length, animals });
}

/** Exactly those are public whose word means so, and those whose withdrawal is held. */
async function expectPublic({ db }: Pulling, { ids }: Sample): Promise<void> {
  const followed = await db.read((tx) => findFollowed(tx, name));
  expect(["ok", "held"]).toContain(stateOf(followed));
  const isPublic = (meaning = "none") => ["available", "pending"].includes(meaning);
  const expected = Object.entries(ids).flatMap(([word, all]) =>
    isPublic(meanings[word]) ? all.map((id) => `${name}:${id}`) : [],
  );
  const held = new Set(followed.source.held);
  const pets = await db.read((tx) => tx.select().from(tx.t.pets));
  const shown = pets.flatMap(({ id, externalId, status }) => {
    const isOwn = expected.includes(externalId ?? "") || !held.has(String(id));
    return isOwn && isPublic(status ?? undefined) ? (externalId ?? "") : [];
  });
  expect(shown.toSorted()).toEqual(expected.toSorted());
}

test("exactly those are public whose word means so, with words explained as they come", async () => {
  const file = new URL("../../fixtures/import/feed-of-dogs.json", import.meta.url);
  const samples = (await Bun.file(file).json()) as Sample[];
  let now = samples[0] as Sample;
  const clock = () => now.at * 1_000;
  const { db } = await openTestStore({ clock });
  const headers = { "Content-Type": "application/json" };
  const fetch = () => new Response(textOf(now), { headers });
  using server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch });
  const pulling: Pulling = { db, clock, allowPrivate: true };
  // As `sources add` does.
  const shown = { bytes: new TextEncoder().encode(textOf(now)) };
  const prepared = await prepare(shown.bytes, { source: name, category: "Dog" });
  const { reading } = await previewImport(db, prepared, { skipBad: true });
  const url = `http://127.0.0.1:${server.port}/`;
  const source = { name, url, reading, createdAtMs: 0, createdBy: "replay" };
  await db.transaction((tx) => follow(tx, source, hourMs, clock() + hourMs));
  await pull(pulling, name, { shown });
  const asked: string[] = [];
  for (const sample of samples) {
    now = sample;
    await pull(pulling, name);
    const { source } = await db.read((tx) => findFollowed(tx, name));
    const words = waitingWords(source).map(({ word }) => word);
    const told = words.map((word) => [statusKey(word), meanings[word] as Meaning] as const);
    if (words.length > 0) {
      await db.transaction((tx) => setSource(tx, name, new Map(told), clock()));
      await pull(pulling, name);
    }
    await expectPublic(pulling, sample);
    asked.push(...words);
  }
  expect(asked).toContain("DiTC");
}, 60_000);
