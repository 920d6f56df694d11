import { join } from "node:path";
import { tmpdir } from "node:os";
import type { Config } from "../../config.ts";
import type { Category } from "../../domain/category.ts";
import type { Services } from "../../service/services.ts";
import { catalogueOf } from "../import/catalogue.ts";
import { mappedFormat, type MapTarget } from "../import/formats/field-map.ts";
import { Statuses, wordKey } from "../import/formats/statuses.ts";
import { importCatalogue, type ImportSummary } from "../import/import.ts";
import { Rejects } from "../import/commands/import-report.ts";
import { type ReadOptions, UnknownFormat } from "../import/reading.ts";
import {
  ImportDesk,
  type ImportChoices,
  type ImportCount,
  type ImportEngine,
  type ImportStep,
  type Meaning,
  type Preview,
  type UnknownFile,
} from "./imports.ts";

/** Where uploads wait, within the data folder; a database has none, and its machine's temporary folder serves. */
const folderName = "console-uploads";

/** The import annex's names for what a column holds. */
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
  const isFolder = config.store === undefined && config.storeFile === undefined;
  const folder = isFolder
    ? join(config.data, folderName)
    : join(tmpdir(), `rehome-${folderName}-${crypto.randomUUID()}`);
  return new ImportDesk(folder, importEngine(services));
}

/** The import annex, as the console uses it. */
export function importEngine({ store, actor, clock }: Services): ImportEngine {
  const catalogue = catalogueOf(store);
  const work = async (
    file: string,
    choices: ImportChoices,
    isRehearsal: boolean,
    options: { rejects: string; onStep: (step: ImportStep) => void; stop?: AbortSignal },
  ): Promise<ImportSummary> => {
    using rejects = Rejects.open(options.rejects, true);
    const summary = await importCatalogue(catalogue, {
      input: Bun.file(file).stream(),
      read: readOptions(choices),
      categories: [],
      createCategories: true,
      skipBad: choices.skipBad,
      dryRun: isRehearsal,
      actor,
      nowMs: clock,
      onReject: (rejection) => rejects.add(rejection),
      onProgress: options.onStep,
      sleep: Bun.sleep,
      stop: options.stop ?? new AbortController().signal,
    });
    rejects.end();
    return summary;
  };
  return {
    async examine(file, choices, options) {
      try {
        const summary = await work(file, choices, true, options);
        return previewOf(summary, await catalogue.categories());
      } catch (error) {
        if (error instanceof UnknownFormat) return unknownOf(error);
        throw error;
      }
    },
    async run(file, choices, options) {
      const summary = await work(file, choices, false, options);
      return { counts: countsOf(summary), changeId: undefined };
    },
  };
}

function readOptions({ columns, statuses }: ImportChoices): ReadOptions {
  const words = new Map(Object.entries(statuses).map(([word, each]) => [wordKey(word), each]));
  const map = Object.entries(columns ?? {}).map(
    ([meaning, column]) => [targets[meaning as Meaning], column] as const,
  );
  return {
    ...(columns !== undefined && { format: mappedFormat(new Map(map)) }),
    ...(words.size > 0 && { statuses: new Statuses(words) }),
  };
}

function countsOf(summary: ImportSummary): ImportCount {
  const { read, added, updated, unchanged, superseded, rejected, skipped } = summary;
  const left = skipped.reduce((sum, { records }) => sum + records, 0);
  return { read, added, updated, unchanged, superseded, rejected, withdrawn: 0, skipped: left };
}

function previewOf(summary: ImportSummary, known: readonly Category[]): Preview {
  const names = new Map(known.map(({ id, name }) => [id, name]));
  return {
    kind: "preview",
    format: summary.format,
    counts: countsOf(summary),
    newCategories: summary.categoriesAdded.map(({ name }) => name),
    sample: summary.sample.map(({ name, category, status, externalId }) => ({
      name,
      category:
        "name" in category && category.name !== undefined
          ? category.name
          : "id" in category && category.id !== undefined
            ? (names.get(category.id) ?? String(category.id))
            : "",
      status,
      externalId,
    })),
    bad: summary.causes.map(({ field, problem, records, lines }) => ({
      problem: field === "" ? problem : `${field}: ${problem}`,
      count: records,
      firstLines: lines,
    })),
    notes: summary.notes.map(({ text, records, example }) => `${text} (${records}: ${example})`),
    unknownWords: summary.causes.flatMap(({ unknownStatus }) => unknownStatus ?? []),
  };
}

function unknownOf({ columns, sample, map }: UnknownFormat): UnknownFile {
  const guess = Object.fromEntries([...map].map(([target, column]) => [meaningOf[target], column]));
  return { kind: "unknown", columns, rows: [sample], guess };
}
