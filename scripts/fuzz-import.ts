/**
 * `bun scripts/fuzz-import.ts [--runs N] [--seed S] [--console] [FILE...]`: reads damaged lists as
 * an import does, until one fails in another way than with a message for its reader, or takes long.
 * Each run damages one of the files (by default, the fixtures of the tests), by its seed.
 * `--console` gives them to the executable's process for the console instead, and the largest lists
 * that are allowed behind them, and says what the worst of them took.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { smallMemory } from "../src/features/schedule/child.ts";
import {
  type ListOutcome,
  noAnswers,
  type WorkMessage,
} from "../src/features/console/import-work.ts";
import { prepare } from "../src/features/import/understand/propose.ts";
import { limits, UnreadableInput } from "../src/features/import/read/input.ts";
import { unzipped, zipped } from "../test/helpers/zip.ts";
import { cleanEnvironment, executable, rehome, temporaryFolder } from "../test/helpers/binary.ts";
import { argumentsOf } from "./arguments.ts";
import { random } from "./random.ts";

/** What damages a list in ways that random bytes seldom do. */
const pieces = [
  '"',
  "'",
  "\n",
  "\r",
  "\t",
  ",",
  ";",
  "|",
  "{",
  "}",
  "[",
  "]",
  ":",
  "\\",
  "\0",
  "\uFEFF",
  '""',
  "\r\n",
  '"\n"',
  "null",
  "1e999",
  "9223372036854775808",
  "-0",
  "__proto__",
  "adopted",
  "No longer available",
  "\ud800",
  "𝕏",
  "=1+1",
  "sep=;\n",
  '{"a":'.repeat(300),
  "[".repeat(2_000),
  "x".repeat(5_000),
];
const roundsMax = 6;
const longMs = 10_000;
const memoryMaxBytes = 512 * 1024 * 1024;
/** How often the memory of a process is looked at. */
const lookMs = 10;

/** A damaged list: of a workbook, as a rule, one part, so that what reads it gets that far. */
export function damaged(bytes: Uint8Array, seed: number): Uint8Array {
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

/** What a list took: `ms` is processor time, which grows less than the clock on a busy machine. */
interface Took {
  readonly ms: number;
  readonly bytes: number;
  readonly is: ListOutcome["is"] | undefined;
}

/** The executable's process that reads lists for the console, on an empty store. */
export async function consoleReader() {
  const folder = temporaryFolder();
  const data = join(folder.path, "data");
  const { exitCode, stderr } = await rehome([
    "keys",
    "create",
    "--plan",
    "free",
    "--name",
    "a",
    "--data",
    data,
  ]);
  if (exitCode !== 0) throw new Error(stderr);
  const env = { ...cleanEnvironment, REHOME_DATA: data, ...smallMemory };
  let files = 0;
  return {
    [Symbol.dispose]: () => folder[Symbol.dispose](),
    async read(bytes: Uint8Array): Promise<Took> {
      const file = join(folder.path, String((files += 1)));
      writeFileSync(file, bytes);
      let is: Took["is"];
      const child = Bun.spawn([await executable(), "__import"], {
        env,
        stdio: ["ignore", "ignore", "inherit"],
        serialization: "advanced",
        ipc: (said: WorkMessage) => void ("outcome" in said && (is = said.outcome.is)),
      });
      child.send({ file, rejects: `${file}.rejects`, answers: noAnswers });
      // What the system says at its end begins with the memory of this process, which forked it.
      let took = 0;
      const looking = setInterval(() => (took = Math.max(took, peakOf(child.pid))), lookMs);
      await child.exited;
      clearInterval(looking);
      rmSync(file);
      const usedMs = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1_000;
      return { is, ms: usedMs, bytes: took };
    },
  };
}

/** The most memory that a process has had. */
function peakOf(pid: number): number {
  try {
    const found = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
    return Number(found?.[1] ?? 0) * 1_024;
  } catch {
    return 0;
  }
}

/** Throws unless a list was read or refused within the bounds of time and memory. */
export function requireBounded({ is, ms, bytes }: Took): void {
  if (is === undefined) throw new Error("the process ended without an outcome");
  if (ms > longMs) throw new Error(`a list took ${Math.round(ms)} ms`);
  if (bytes > memoryMaxBytes) throw new Error(`a list took ${bytes} bytes of memory`);
}

/** As many records as are allowed, in as many bytes: as JSON, and as a workbook. */
export function largestLists(): readonly Uint8Array[] {
  const rows = Array.from({ length: limits.records - 1 }, (_, at) => at);
  const text = (bytes: number) => "x".repeat(bytes);
  const json = rows.map((at) => ({ id: at + 1, name: `Rex ${at} ${text(190)}`, categoryId: 1 }));
  const cell = (value: string) => `<c t="inlineStr"><is><t>${value}</t></is></c>`;
  const row = (...values: string[]) => `<row>${values.map(cell).join("")}</row>`;
  const sheet = rows.map((at) => row(String(at), `Rex ${at} ${text(60)}`, "Dog", "available"));
  const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
  const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  const relations = "http://schemas.openxmlformats.org/package/2006/relationships";
  const types = "http://schemas.openxmlformats.org/package/2006/content-types";
  const kind = "application/vnd.openxmlformats-officedocument.spreadsheetml";
  const parts = {
    "[Content_Types].xml": `<Types xmlns="${types}"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${kind}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${kind}.worksheet+xml"/></Types>`,
    "_rels/.rels": `<Relationships xmlns="${relations}"><Relationship Id="a" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    "xl/_rels/workbook.xml.rels": `<Relationships xmlns="${relations}"><Relationship Id="a" Type="${office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
    "xl/workbook.xml": `<workbook xmlns="${main}" xmlns:r="${office}"><sheets><sheet name="a" sheetId="1" r:id="a"/></sheets></workbook>`,
    "xl/worksheets/sheet1.xml": `<worksheet xmlns="${main}"><sheetData>${row("Id", "Name", "Species", "Status")}${sheet.join("")}</sheetData></worksheet>`,
  };
  const named = Object.entries(parts).map(([name, part]) => [name, Buffer.from(part)] as const);
  return [Buffer.from(JSON.stringify(json)), Buffer.concat(zipped(new Map(named)))];
}

const fixtures = join(import.meta.dir, "../test/fixtures/import");

export function fixtureFiles(): string[] {
  return readdirSync(fixtures).map((name) => join(fixtures, name));
}

if (import.meta.main) {
  const { values, positionals } = argumentsOf({
    options: {
      runs: { type: "string" },
      seed: { type: "string", default: String(Date.now() % 2 ** 31) },
      console: { type: "boolean", default: false },
    },
    allowPositionals: true,
  });
  const files = positionals.length > 0 ? positionals : fixtureFiles();
  const lists = files.map((file) => readFileSync(file));
  const first = Number(values.seed);
  const runs = Number(values.runs ?? (values.console ? 10_000 : 100_000));
  using reader = values.console ? await consoleReader() : undefined;
  const worst = { ms: 0, bytes: 0, read: 0 };
  const readIn = async (bytes: Uint8Array) => {
    const took = await reader?.read(bytes);
    if (took === undefined) return;
    requireBounded(took);
    worst.ms = Math.max(worst.ms, took.ms);
    worst.bytes = Math.max(worst.bytes, took.bytes);
    worst.read += took.is === "failed" ? 0 : 1;
  };
  for (let seed = first; seed < first + runs; seed += 1) {
    const at = seed % lists.length;
    const list = lists[at] ?? Buffer.alloc(0);
    try {
      await (reader === undefined ? tryDamaged(list, seed) : readIn(damaged(list, seed)));
    } catch (error) {
      process.stdout.write(`${files[at]} with --seed ${seed}:\n`);
      throw error;
    }
  }
  process.stdout.write(`${runs} lists from --seed ${first} on were read or refused.\n`);
  const say = (what: string) => {
    const mebibytes = Math.round(worst.bytes / 2 ** 20);
    const took = `at most ${Math.round(worst.ms)} ms of the processor and ${mebibytes} MiB`;
    process.stdout.write(`${what}: ${worst.read} read, ${took}.\n`);
    Object.assign(worst, { ms: 0, bytes: 0, read: 0 });
  };
  if (reader !== undefined) say("Damaged lists");
  for (const [at, list] of (reader === undefined ? [] : largestLists()).entries()) {
    await readIn(list);
    say(`The largest ${at === 0 ? "JSON" : "workbook"} (${list.length} bytes)`);
  }
}
