/**
 * How fast `rehome pets import` is: makes a large synthetic file of each layout in a temporary
 * folder, reads and understands it as an import does, then imports it twice with the executable
 * (all new, all known), and prints rows a second and the largest memory. The executable is built
 * first. Usage: bun bench/import.ts [rows [beginning of a layout's file name]]
 */
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "../scripts/build.ts";
import { prepare } from "../src/features/import/understand/propose.ts";

interface Layout {
  readonly file: string;
  readonly before: string;
  readonly row: (index: number) => string;
  readonly between: string;
  readonly after: string;
}

const rehomeRow = (index: number) =>
  `{"name":"Animal ${index}","categoryId":${(index % 4) + 1},"status":"available","externalId":"asm:${index}"}`;

const layouts: readonly Layout[] = [
  { file: "rehome.ndjson", before: "", row: rehomeRow, between: "\n", after: "\n" },
  {
    file: "rehome.csv",
    before: "name,categoryId,status,externalId\r\n",
    row: (index) => `Animal ${index},${(index % 4) + 1},available,asm:${index}`,
    between: "\r\n",
    after: "\r\n",
  },
  {
    file: "austin.csv",
    before:
      "Animal ID,Name,DateTime,MonthYear,Date of Birth,Outcome Type,Outcome Subtype,Animal Type,Sex upon Outcome,Age upon Outcome,Breed,Color\r\n",
    row: (index) =>
      `A${index},"*Luna, ${index}",01/02/2024 10:00:00 AM,01/02/2024,03/04/2020,${index % 3 === 0 ? "Transfer" : "Adoption"},Foster,Dog,Neutered Male,1 year,"Chihuahua Shorthair Mix",Brown/White`,
    between: "\r\n",
    after: "\r\n",
  },
];

async function write(path: string, layout: Layout, rows: number): Promise<void> {
  const writer = Bun.file(path).writer();
  await writer.write(layout.before);
  for (let index = 0; index < rows; index += 1) {
    void writer.write((index === 0 ? "" : layout.between) + layout.row(index));
    if (index % 10_000 === 0) await writer.flush();
  }
  await writer.write(layout.after);
  await writer.end();
}

async function measure(path: string): Promise<string> {
  const startMs = performance.now();
  const { understanding } = await prepare(await Bun.file(path).bytes(), {});
  const seconds = (performance.now() - startMs) / 1000;
  const { length } = understanding.outcomes;
  const rejected = understanding.outcomes.filter(({ kind }) => kind === "reject").length;
  const rate = Math.round(length / seconds).toLocaleString("en");
  return `${length} rows (${rejected} rejected) in ${seconds.toFixed(2)} s: ${rate} rows/s`;
}

async function importWhole(executable: string, path: string, data: string): Promise<string> {
  const startMs = performance.now();
  const options = ["--create-categories", "--skip-bad", "--json"];
  const args = ["pets", "import", path, "--data", data, ...options];
  const child = Bun.spawn([executable, ...args], { stdout: "pipe", stderr: "inherit" });
  const printed = child.stdout.json();
  let peak = 0;
  while (child.exitCode === null) {
    peak = Math.max(peak, peakOf(child.pid));
    await Promise.race([child.exited, Bun.sleep(lookMs)]);
  }
  const { read, added, unchanged } = (await printed) as Record<string, number>;
  const seconds = (performance.now() - startMs) / 1000;
  const cpuSeconds = Number(child.resourceUsage()?.cpuTime.total ?? 0n) / 1_000_000;
  const rate = Math.round((read ?? 0) / cpuSeconds).toLocaleString("en");
  return `${added} added, ${unchanged} unchanged in ${seconds.toFixed(2)} s, ${cpuSeconds.toFixed(2)} s of processor time (${rate} rows/s), ${peak} MiB`;
}

const lookMs = 20;

/**
 * The most memory in MiB that a process has had. The kernel's count of what it used at its end
 * would have the memory of the one that started it.
 */
function peakOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
  } catch {
    return 0;
  }
}

const [rowsText = "100000", only = ""] = process.argv.slice(2);
const rows = Number(rowsText);
const folder = await mkdtemp(join(tmpdir(), "rehome-import-"));
const print = (text: string) => void process.stdout.write(`${text}\n`);
try {
  const executable = join(folder, "rehome");
  await build(executable);
  for (const layout of layouts.filter(({ file }) => file.startsWith(only))) {
    const path = join(folder, layout.file);
    const data = join(folder, `${layout.file}-data`);
    await write(path, layout, rows);
    print(layout.file);
    print(`  read    ${await measure(path)}`);
    print(`  first   ${await importWhole(executable, path, data)}`);
    print(`  second  ${await importWhole(executable, path, data)}`);
    await rm(path);
    await rm(data, { recursive: true });
  }
} finally {
  await rm(folder, { recursive: true });
}
