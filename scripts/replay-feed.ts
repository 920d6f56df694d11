/**
 * `bun scripts/replay-feed.ts GIT_FOLDER [--file data/dogs.json] [--every 12]`: follows the list of
 * a shelter through the versions that its repository has, and explains words as they come. After
 * each pull exactly those must be public whose word means so, and those whose withdrawal is held.
 */
import type { PetStatus } from "../src/domain/pet.ts";
import { hourMs } from "../src/domain/clock.ts";
import { jsonText } from "../src/domain/exact-json.ts";
import { previewImport } from "../src/features/import/do/import.ts";
import { preparedOf, propose } from "../src/features/import/understand/propose.ts";
import { statusKey } from "../src/features/import/understand/statuses.ts";
import type { Meaning } from "../src/features/import/understand/words.ts";
import { begin, pull, type Pulling, type PullResult } from "../src/features/sources/pull.ts";
import { findFollowed, setSource, stateOf, waitingWords } from "../src/features/sources/store.ts";
import { inMemory } from "../src/storage/sqlite/files.ts";
import { openSqliteStore } from "../src/storage/sqlite/store.ts";
import { argumentsOf, misused } from "./arguments.ts";

export interface Version {
  readonly atMs: number;
  /** The list as its address returns it. */
  readonly text: string;
  /** Its animals by their ids, each with the word for its status. */
  readonly words: ReadonlyMap<string, string>;
}

/** What its people say that words mean. Nothing else is asked of them. */
export type Meanings = Readonly<Record<string, Meaning>>;

export interface Replayed {
  pulls: number;
  /** Words that were asked for, in their order. */
  readonly asked: string[];
  held: number;
  /** Pulls after which others were public, or the list was not whole though all was explained. */
  readonly wrong: string[];
}

const name = "feed";

/** Follows a list through its versions. */
export async function replay(versions: Iterable<Version>, meanings: Meanings): Promise<Replayed> {
  let now: Version | undefined;
  const clock = () => now?.atMs ?? 0;
  const store = openSqliteStore({ folder: inMemory, timeoutMs: 1_000, serving: false, clock });
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response(now?.text, { headers: { "Content-Type": "application/json" } }),
  });
  const { db } = store;
  const pulling: Pulling = { db, clock, random: () => 0, allowPrivate: true };
  const done: Replayed = { pulls: 0, asked: [], held: 0, wrong: [] };
  try {
    for (const version of versions) {
      now = version;
      const isFirst = done.pulls === 0;
      let result: PullResult = isFirst
        ? await follow(pulling, version, `http://127.0.0.1:${server.port}/`)
        : await pull(pulling, name);
      done.pulls += 1;
      const asked = await explain(pulling, meanings);
      done.asked.push(...asked);
      if (asked.length > 0) result = await pull(pulling, name);
      const fault = await faultIn(pulling, version, meanings, result);
      if (fault !== undefined) done.wrong.push(`${done.pulls}: ${fault}`);
      done.held += (await findFollowed(db, name)).source.held === null ? 0 : 1;
    }
  } finally {
    await server.stop(true);
    await store.close();
  }
  return done;
}

async function follow(pulling: Pulling, { text }: Version, url: string): Promise<PullResult> {
  const bytes = new TextEncoder().encode(text);
  const prepared = preparedOf(await propose(bytes, { source: name, category: "Dog" }));
  const preview = await previewImport(pulling.db, prepared, { skipBad: true });
  const source = { name, url, reading: preview.reading, complete: 1, createdBy: "replay" };
  return begin(pulling, source, hourMs, { bytes, etag: null, lastModified: null });
}

/** Says what the words mean that a list waits for. Returns them. */
async function explain({ db, clock }: Pulling, meanings: Meanings): Promise<string[]> {
  const words = waitingWords((await findFollowed(db, name)).source).map(({ word }) => word);
  const told = words.map((word) => [statusKey(word), meanings[word] ?? unexplained(word)] as const);
  if (told.length > 0) {
    await db.transaction((tx) => setSource(tx, name, { statuses: new Map(told) }, clock()));
  }
  return words;
}

function unexplained(word: string): never {
  throw new Error(`nobody says what ${JSON.stringify(word)} means`);
}

const publicStatuses: readonly (Meaning | PetStatus | null)[] = ["available", "pending"];

/** How the animals that are public differ from those that should be. */
async function faultIn(
  { db }: Pulling,
  { words }: Version,
  meanings: Meanings,
  result: PullResult,
): Promise<string | undefined> {
  if (result instanceof Error) return result.message;
  const followed = await findFollowed(db, name);
  const held = new Set(followed.source.held);
  const pets = await db.read((tx) => tx.select().from(tx.t.pets));
  const shown = pets.filter(({ status }) => publicStatuses.includes(status));
  const listed = [...words].filter(([, word]) => publicStatuses.includes(meanings[word] ?? null));
  const expected = new Set(listed.map(([id]) => `${name}:${id}`));
  const extra = shown.filter(
    ({ id, externalId }) => !expected.has(externalId ?? "") && !held.has(String(id)),
  );
  const isThere = new Set(shown.map(({ externalId }) => externalId));
  const missing = [...expected].filter((id) => !isThere.has(id));
  const state = stateOf(followed);
  const isDone = state === "ok" || state === "held";
  if (extra.length + missing.length === 0 && isDone) return undefined;
  const names = extra.map((each) => each.name).join(", ");
  return `${state}; public though not to be: ${names || "-"}; hidden: ${missing.join(", ") || "-"}`;
}

interface Feed {
  readonly animals: readonly { readonly ID: string; readonly Status: string }[];
}

/** The versions of a file in a repository, oldest first. */
function* versionsIn(folder: string, file: string, every: number): Generator<Version> {
  const git = (...words: string[]) => {
    const { stdout, success, stderr } = Bun.spawnSync(["git", "-C", folder, ...words]);
    if (!success) throw new Error(stderr.toString());
    return stdout.toString();
  };
  const commits = git("log", "--format=%H %ct", "--reverse", "--", file).trim().split("\n");
  for (const [at, commit] of commits.entries()) {
    const [hash = "", seconds] = commit.split(" ");
    if (at % every !== 0) continue;
    const text = git("show", `${hash}:${file}`);
    const { animals } = JSON.parse(text) as Feed;
    const words = new Map(animals.map((each) => [each.ID, each.Status]));
    yield { atMs: Number(seconds) * 1_000, text, words };
  }
}

/** What the words of the feed of dogs mean, as somebody there would say. */
export const dogMeanings: Meanings = {
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

if (import.meta.main) {
  const { values, positionals } = argumentsOf({
    allowPositionals: true,
    options: {
      file: { type: "string", default: "data/dogs.json" },
      every: { type: "string", default: "12" },
    },
  });
  const [folder, ...more] = positionals;
  if (folder === undefined || more.length > 0) misused("name the folder of the repository");
  const versions = versionsIn(folder, values.file, Number(values.every));
  const done = await replay(versions, dogMeanings);
  const { wrong, ...figures } = done;
  const [first = "none"] = wrong;
  process.stdout.write(`${jsonText({ ...figures, wrong: wrong.length, first })}\n`);
  process.exit(done.wrong.length === 0 ? 0 : 1);
}
