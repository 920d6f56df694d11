/**
 * How fast `rehome pets import` is: makes a large synthetic file of each layout in a temporary
 * folder, reads and understands it as an import does, then imports it twice with the executable
 * (all new, all known), and prints rows a second and the largest memory. The executable is built
 * first. Usage: bun bench/import.ts [rows]
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "../scripts/build.ts";
import { prepare } from "../src/features/import/understand/reading.ts";

interface Layout {
  readonly file: string;
  readonly before: string;
  readonly row: (index: number) => string;
  readonly between: string;
  readonly after: string;
}

const petstoreRow = (id: string, index: number) =>
  `{"id":${id},"category":{"id":${(index % 4) + 1},"name":"Dogs"},"name":"doggie ${index}","photoUrls":["https://photos.example/${index}.jpg"],"tags":[{"id":0,"name":"string"}],"status":"available"}`;
const rehomeRow = (index: number) =>
  `{"id":${index + 1},"name":"Animal ${index}","categoryId":${(index % 4) + 1},"status":"available","externalId":"asm:${index}"}`;

const layouts: readonly Layout[] = [
  {
    file: "petstore.json",
    before: "[",
    row: (index) => petstoreRow(String(index), index),
    between: ",",
    after: "]",
  },
  {
    file: "petstore-large-ids.json",
    before: "[",
    row: (index) => petstoreRow(`9223372036854${index % 700_000}`, index),
    between: ",\n",
    after: "]",
  },
  { file: "rehome.ndjson", before: "", row: rehomeRow, between: "\n", after: "\n" },
  {
    file: "rehome.csv",
    before: "id,name,categoryId,status,externalId\r\n",
    row: (index) => `${index + 1},Animal ${index},${(index % 4) + 1},available,asm:${index}`,
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
  const args = [
    "pets",
    "import",
    path,
    "--data",
    data,
    "--create-categories",
    "--new-ids",
    "--skip-bad",
  ];
  const child = Bun.spawn([executable, ...args, "--json"], { stdout: "pipe", stderr: "inherit" });
  const summary = (await child.stdout.json()) as { read: number; added: number; unchanged: number };
  await child.exited;
  const seconds = (performance.now() - startMs) / 1000;
  const { read, added, unchanged } = summary;
  const rate = Math.round(read / seconds).toLocaleString("en");
  const usage = child.resourceUsage();
  const mebibytes = Math.round((usage?.maxRSS ?? 0) / 1024 / 1024);
  const cpuSeconds = Number(usage?.cpuTime.total ?? 0n) / 1_000_000;
  return `${added} added, ${unchanged} unchanged in ${seconds.toFixed(2)} s (CPU ${cpuSeconds.toFixed(2)} s): ${rate} rows/s, ${mebibytes} MiB`;
}

const rows = Number(process.argv[2] ?? 250_000);
const folder = await mkdtemp(join(tmpdir(), "rehome-import-"));
const print = (text: string) => void process.stdout.write(`${text}\n`);
try {
  const executable = join(folder, "rehome");
  await build(executable);
  for (const layout of layouts) {
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
