/**
 * `bun scripts/fuzz-import.ts [--runs N] [--seed S] [FILE...]`: reads damaged lists as an import
 * does, until one fails in another way than with a message for its reader, or takes long. Each run
 * damages one of the files (by default, the fixtures of the tests), by its seed. It fails where all
 * of it took more memory than the process of a list may have.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { prepare } from "../src/features/import/understand/propose.ts";
import { UnreadableInput } from "../src/features/import/read/input.ts";
import { unzipped, zipped } from "../test/helpers/zip.ts";
import { argumentsOf } from "./arguments.ts";
import { random } from "./random.ts";

const marks = `" ' , ; | { } [ ] : \\ "" null 1e999 9223372036854775808 -0 __proto__ adopted =1+1 𝕏`;
const blanks = '\n \r \t \0 \uFEFF \r\n "\n" \ud800 sep=;\n';
const long = ['{"a":'.repeat(300), "[".repeat(2_000), "x".repeat(5_000)];
/** What damages a list in ways that random bytes seldom do. */
const pieces = [...marks.split(" "), ...blanks.split(" "), ...long, "No longer available"];
const roundsMax = 6;
const longMs = 15_000;
const memoryMaxMebibytes = 512;

/** A list damaged by a seed: of a workbook, as a rule, one part, so that its reader gets that far. */
function damaged(bytes: Uint8Array, seed: number): Uint8Array {
  const isWorkbook = bytes[0] === 0x50 && bytes[1] === 0x4b;
  if (!isWorkbook || seed % 4 === 0) return damagedBytes(bytes, seed);
  const parts = new Map(unzipped(bytes));
  const [name = "", part = bytes] = [...parts][seed % parts.size] ?? [];
  return Buffer.concat(zipped(parts.set(name, damagedBytes(part, seed))));
}

/** The bytes, damaged by a seed: cut, doubled, moved, overwritten, compressed, or all of it. */
function damagedBytes(bytes: Uint8Array, seed: number): Uint8Array {
  const next = random(seed);
  const below = (count: number) => Math.floor(next() * count);
  let found = Buffer.from(bytes);
  for (let rounds = below(roundsMax); rounds >= 0; rounds -= 1) {
    const at = below(found.length + 1);
    const length = below(Math.min(found.length - at, 400) + 1);
    const piece = Buffer.from(pieces[below(pieces.length)] ?? "");
    const [before, part, after] = [
      found.subarray(0, at),
      found.subarray(at, at + length),
      found.subarray(at + length),
    ];
    const ways = [
      () => Buffer.concat([before, piece, part, after]),
      () => Buffer.concat([before, piece, after]),
      () => Buffer.concat([before, part, part, after]),
      () => Buffer.concat([after, part, before]),
      () => before,
      () => Buffer.concat([before, part.map(() => below(256)), after]),
    ];
    found = Buffer.from((ways[below(ways.length)] ?? ways[0])?.() ?? found);
  }
  return next() < 0.1 ? Bun.gzipSync(found) : found;
}

/** Reads a damaged list. Throws for what its reader could not understand. */
export async function tryDamaged(bytes: Uint8Array, seed: number): Promise<void> {
  const startMs = performance.now();
  try {
    const { understanding } = await prepare(damaged(bytes, seed), {});
    for (const outcome of understanding.outcomes) {
      if (outcome.kind !== "pet") continue;
      const { name, category } = outcome;
      if (name === "" && category.name === undefined && category.id === undefined) {
        throw new Error("an animal has neither a name nor a category");
      }
    }
  } catch (error) {
    if (!(error instanceof UnreadableInput)) throw error;
    if (error.message === "") throw new Error("a list is refused without a word", { cause: error });
  }
  const ms = performance.now() - startMs;
  if (ms > longMs) throw new Error(`a list took ${Math.round(ms)} ms`);
}

const fixtures = join(import.meta.dir, "../test/fixtures/import");

export function fixtureFiles(): string[] {
  return readdirSync(fixtures)
    .toSorted()
    .map((name) => join(fixtures, name));
}

if (import.meta.main) {
  const { values, positionals } = argumentsOf({
    options: {
      runs: { type: "string", default: "10000" },
      seed: { type: "string", default: String(Date.now() % 2 ** 31) },
    },
    allowPositionals: true,
  });
  const files = positionals.length > 0 ? positionals : fixtureFiles();
  const lists = files.map((file) => readFileSync(file));
  const first = Number(values.seed);
  const runs = Number(values.runs);
  for (let seed = first; seed < first + runs; seed += 1) {
    const at = seed % lists.length;
    try {
      await tryDamaged(lists[at] ?? Buffer.alloc(0), seed);
    } catch (error) {
      process.stdout.write(`${files[at]} with --seed ${seed}:\n`);
      throw error;
    }
  }
  process.stdout.write(`${runs} lists from --seed ${first} on were read or refused.\n`);
  const mebibytes = Math.round(process.resourceUsage().maxRSS / 1_024);
  process.stdout.write(`At most ${mebibytes} MiB of memory.\n`);
  process.exit(mebibytes > memoryMaxMebibytes ? 1 : 0);
}
