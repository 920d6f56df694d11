/** The animals of a list as a file, for a spreadsheet. */
import { csvField, guarded, inWorkbook } from "../../import/write/csv.ts";
import type { Visit } from "../visit.ts";
import { askedOf } from "./animals.ts";
import { download, orNotFound } from "./page.ts";
import { noStatus } from "./parts.ts";

/** Animals that an export reads in one go; then everybody else gets a turn. */
const batchAnimals = 1_000;

export const exportFormats = ["xlsx", "csv"] as const;

/** The rows of an export in the language of its reader, the headings first. */
async function* exportRows(
  visit: Visit,
  textOf: (text: string) => string,
): AsyncGenerator<(string | number)[]> {
  const { words } = visit;
  const { fields, export: heads } = words;
  yield [heads.number, fields.name, fields.category, fields.status, heads.externalId, heads.source];
  for await (const batch of visit.animals.all({ ...askedOf(visit), limit: batchAnimals })) {
    for (const { id, name, category, categoryId, status, externalId, source } of batch) {
      yield [
        Number.isSafeInteger(Number(id)) ? Number(id) : String(id),
        textOf(name),
        textOf(category ?? String(categoryId)),
        words.status[status ?? noStatus],
        textOf(externalId ?? ""),
        textOf(source ?? ""),
      ];
    }
  }
}

/** `GET /export/:format`: the file, written while it is read, so that its size costs no memory. */
export async function exportFile(visit: Visit, name: string): Promise<Response> {
  const format = orNotFound(exportFormats.find((each) => each === name));
  if (format === "csv") {
    const lines = csvLines(exportRows(visit, guarded));
    return download(lines, "animals.csv", "text/csv; charset=utf-8");
  }
  // Loaded where it is wanted.
  const { writeXlsxStream } = await import("hucre/xlsx");
  const sheet = { name: visit.words.sections.animals };
  const type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
  return download(writeXlsxStream(exportRows(visit, inWorkbook), sheet), "animals.xlsx", type);
}

/** The rows behind the mark by which a spreadsheet takes a file for UTF-8. */
async function* csvLines(rows: ReturnType<typeof exportRows>): AsyncGenerator<string> {
  yield "\uFEFF";
  for await (const row of rows) yield `${row.map((each) => csvField(String(each))).join(",")}\r\n`;
}
