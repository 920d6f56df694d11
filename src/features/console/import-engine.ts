import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { type Config, dataFolderOf } from "../../config.ts";
import type { Clock } from "../../domain/clock.ts";
import type { Services } from "../../service/services.ts";
import { record } from "../../storage/records.ts";
import { sql, type Steps } from "../../storage/statement.ts";
import { isRunning } from "../../storage/system.ts";
import { changes } from "../animals/tables.ts";
import { catalogueOf, type CatalogueStore } from "../import/catalogue.ts";
import type { Format } from "../import/formats/format.ts";
import { mappedFormat, type MapTarget } from "../import/formats/field-map.ts";
import { Statuses, wordKey } from "../import/formats/statuses.ts";
import { importAnimals, type ImportProgress, type ImportSummary } from "../import/import.ts";
import { Rejects } from "../import/commands/import-report.ts";
import type { Message } from "../import/messages.ts";
import { type ByteChunks, UnreadableInput } from "../import/read/input.ts";
import type { ReadOptions } from "../import/reading.ts";
import { UnknownFormat, unknownFormat } from "../import/unknown-format.ts";
import { ImportDesk } from "./import-desk.ts";
import type { FoundReading, ImportChoices, Meaning, UnknownFile } from "./imports.ts";

/** Where uploads wait: in the data folder, or with a database in the temporary folder. */
const folderName = "console-uploads";

/** The import feature's names for what a column holds. */
const targets: Readonly<Record<Meaning, MapTarget>> = {
  name: "name",
  category: "categoryId",
  status: "status",
  id: "externalId",
  updatedAt: "updatedAt",
};
const meaningOf = Object.fromEntries(
  Object.entries(targets).map(([meaning, target]) => [target, meaning]),
) as Readonly<Record<MapTarget, Meaning>>;

export function openImports(config: Config, services: Services): ImportDesk {
  const data = dataFolderOf(config);
  const folder = data === undefined ? ownTemporaryFolder() : join(data, folderName);
  return new ImportDesk(folder, importEngine(services));
}

/** Nobody can foresee its name; those of consoles that were killed go. */
function ownTemporaryFolder(): string {
  const prefix = `rehome-${folderName}-`;
  for (const name of readdirSync(tmpdir())) {
    const [, pid] = new RegExp(`^${prefix}(\\d+)-`).exec(name) ?? [];
    if (pid === undefined || isRunning(Number(pid))) continue;
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true });
    } catch {
      // It belongs to another user, whose console removes it.
    }
  }
  return join(tmpdir(), `${prefix}${process.pid}-${crypto.randomUUID()}`);
}

interface Work {
  readonly file: string;
  readonly choices: ImportChoices;
  /** True to find out what would change, and to change nothing. */
  readonly dryRun: boolean;
  /** The file of what was not taken. */
  readonly rejects: string;
  readonly actor?: string;
  readonly onStep: (step: ImportProgress) => void;
  readonly stop: AbortSignal;
}

async function importOf(
  catalogue: CatalogueStore,
  nowMs: Clock,
  work: Work,
): Promise<ImportSummary> {
  const { file, choices, dryRun, actor = "", onStep, stop } = work;
  using rejects = Rejects.open(work.rejects, true);
  const summary = await importAnimals(catalogue, {
    input: inTurns(Bun.file(file).stream()),
    read: readOptions(choices),
    categories: [],
    createCategories: true,
    complete: choices.isComplete,
    // The preview has shown how many would be withdrawn.
    confirmed: true,
    actor,
    nowMs,
    skipBad: choices.skipBad,
    dryRun,
    onReject: (rejection) => rejects.add(rejection),
    onProgress: onStep,
    sleep: Bun.sleep,
    stop,
  });
  rejects.end();
  return summary;
}

/** The bytes of a file. Between two pieces of it everybody else gets a turn. */
async function* inTurns(bytes: ByteChunks): AsyncGenerator<Uint8Array> {
  for await (const piece of bytes) {
    await new Promise((resolve) => void setImmediate(resolve));
    yield piece;
  }
}

export type ImportEngine = ReturnType<typeof importEngine>;

/** The import feature, as the console uses it. */
function importEngine({ store, clock }: Services) {
  const catalogue = catalogueOf(store);
  return {
    /** Reads the file and changes nothing. */
    async examine(
      file: string,
      choices: ImportChoices,
      work: Pick<Work, "rejects" | "onStep" | "stop">,
    ) {
      for (let { found } = choices; ;) {
        try {
          const read = { ...work, file, choices: { ...choices, found }, dryRun: true };
          const summary = await importOf(catalogue, clock, read);
          const known = await catalogue.categories();
          const categories = new Map(known.map(({ id, name }) => [id, name]));
          return { is: "examined", preview: { ...summary, found, categories }, found } as const;
        } catch (error) {
          if (!(error instanceof UnreadableInput)) throw error;
          if (error instanceof UnknownFormat) {
            return { is: "unknown", file: unknownOf(error), found } as const;
          }
          if (error.problem.code === "statusMissing") return { is: "statusless", found } as const;
          const other = otherReading(error.problem, found);
          if (other === undefined) throw error;
          found = other;
        }
      }
    },
    async run(
      file: string,
      choices: ImportChoices,
      work: Omit<Work, "file" | "choices" | "dryRun">,
    ) {
      const summary = await importOf(catalogue, clock, { ...work, file, choices, dryRun: false });
      const { applied, added, updated, withdrawn } = summary;
      const isChange = applied && added + updated + withdrawn > 0;
      const changeId = isChange ? await store.read(() => lastImport(work.actor ?? "")) : undefined;
      return { summary, changeId };
    },
  };
}

/** What spreadsheets on Windows write in Western Europe where they do not write UTF-8. */
const windowsEncoding = "windows-1252";

/** Another way to read a file that cannot be read as `found` says; undefined if there is none. */
function otherReading(
  { code, values: [value = ""] }: Message,
  found: FoundReading,
): FoundReading | undefined {
  if (code === "listWithin" && found.records === undefined) {
    return { ...found, records: value.split(".") };
  }
  if (found.encoding !== undefined) return undefined;
  if (code === "notUtf8") return { ...found, encoding: windowsEncoding };
  if (code === "utf16Unmarked") return { ...found, encoding: value };
  return undefined;
}

/** The number of somebody's last import. */
function* lastImport(actor: string): Steps<bigint | undefined> {
  const last = sql`WHERE actor = ${actor} AND action = 'import' ORDER BY id DESC LIMIT 1`;
  return (yield* record(changes, last))?.id;
}

/** Makes of a file of any kind one of an unknown kind, so that a person says what it holds. */
const askedFormat: Format = {
  name: "asked",
  title: "asked",
  recognises: () => false,
  mapper(sample, context) {
    return unknownFormat(sample).mapper(sample, context);
  },
};

function readOptions(choices: ImportChoices): ReadOptions {
  const { columns, asksColumns, statuses, source, everyStatus, found } = choices;
  const words = new Map(Object.entries(statuses).map(([word, each]) => [wordKey(word), each]));
  const map = Object.entries(columns ?? {}).map(
    ([meaning, column]) => [targets[meaning as Meaning], column] as const,
  );
  return {
    ...found,
    ...(asksColumns && { format: askedFormat }),
    ...(columns !== undefined && { format: mappedFormat(new Map(map)) }),
    ...(source !== "" && { source }),
    statuses: new Statuses(words, everyStatus),
  };
}

function unknownOf({ columns, rows, map }: UnknownFormat): UnknownFile {
  const guess = Object.fromEntries([...map].map(([target, column]) => [meaningOf[target], column]));
  return { columns, rows: rows.map((row) => row.map(plain)), guess };
}

/** A value without the quotes around it in which messages show a text. */
function plain(shown: string): string {
  if (!/^".*"$/s.test(shown)) return shown;
  try {
    return String(JSON.parse(shown));
  } catch {
    // It was cut off within an escape.
    return shown.slice(1, -1);
  }
}
