/** A year of a shelter's public list, in 18 of its versions: scripts/replay-feed.ts has all of it. */
import { expect, test } from "bun:test";
import { dogMeanings, replay, type Version } from "../../../scripts/replay-feed.ts";

/** Numbers of dogs by the word for their status, from fetch-wi-rescue/fetch-dogs-data. */
interface Sample {
  readonly at: number;
  readonly ids: Readonly<Record<string, readonly number[]>>;
}

function versionOf({ at, ids }: Sample): Version {
  const words = new Map(
    Object.entries(ids).flatMap(([word, all]) => all.map((id) => [String(id), word] as const)),
  );
  const animals = [...words].map(([id, word]) => {
    return { ID: id, "Internal-ID": `9${id}`, Name: `Dog ${id}`, Type: "Dog", Status: word };
  });
  return { atMs: at * 1_000, text: JSON.stringify({ count: animals.length, animals }), words };
}

test("exactly those are public whose word means so, with words explained as they come", async () => {
  const file = new URL("../../fixtures/import/feed-of-dogs.json", import.meta.url);
  const samples = (await Bun.file(file).json()) as Sample[];
  const { wrong, pulls, asked } = await replay(samples.map(versionOf), dogMeanings);
  expect(wrong).toEqual([]);
  expect(pulls).toBe(samples.length);
  expect(asked).toContain("DiTC");
}, 60_000);
