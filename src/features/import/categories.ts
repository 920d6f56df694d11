import { categoryKey, type Category } from "../animals/categories.ts";
import { isJsonObject, parseJson } from "../../domain/exact-json.ts";
import { isPetName } from "../../domain/pet.ts";
import { int64Of, type Notation, shown } from "./formats/values.ts";
import { csvRows } from "./read/csv-rows.ts";
import { detectShape } from "./read/detect.ts";
import { explainJson } from "./read/explain-json.ts";
import { type ByteChunks, UnreadableInput, wholeInput } from "./read/input.ts";
import { openInput } from "./read/open.ts";
import { MalformedRecord } from "./read/records.ts";
import { readTable } from "./read/table.ts";
import { message } from "./messages.ts";

/** Names of categories and their ids. */
export class CategoryNames {
  readonly #ids = new Map<string, bigint>();
  readonly #names = new Map<bigint, string>();

  constructor(categories: Iterable<Category> = []) {
    for (const { name, id } of categories) this.add(name, id);
  }

  /** Adds a name; returns false, changing nothing, when it already stands for another id. */
  add(name: string, id: bigint): boolean {
    const key = categoryKey(name);
    const known = this.#ids.get(key);
    if (known !== undefined) return known === id;
    this.#ids.set(key, id);
    if (!this.#names.has(id)) this.#names.set(id, name);
    return true;
  }

  /** The first name that an id was given. */
  nameOf(id: bigint): string | undefined {
    return this.#names.get(id);
  }

  idOf(name: string): bigint | undefined {
    return this.#ids.get(categoryKey(name));
  }
}

const unreadable = (line: number, text: string) =>
  new UnreadableInput(line, message("other", text));

const categoriesBytesMax = 16 * 1024 * 1024;

/**
 * Reads `--categories FILE`: a JSON object of names and ids (`{"Dog": 1}`), or CSV with the columns
 * name and id. Throws UnreadableInput naming the line or the name at fault.
 */
export async function readCategories(source: ByteChunks): Promise<readonly Category[]> {
  const opened = await openInput(source);
  if (opened.kind === "workbook") {
    throw unreadable(0, "the input is an Excel workbook: save it as CSV");
  }
  const { shape, chunks } = await detectShape(opened.chunks);
  const categories =
    shape.kind === "csv" ? await fromCsv(chunks, shape.delimiter) : await fromJson(chunks);
  const names = new CategoryNames();
  for (const { name, id } of categories) {
    if (!names.add(name, id)) {
      throw unreadable(0, `category ${JSON.stringify(name)} is given two ids`);
    }
  }
  return categories;
}

async function fromJson(chunks: ByteChunks): Promise<Category[]> {
  const text = await wholeText(chunks);
  const fault = explainJson(text);
  if (fault !== undefined)
    throw new UnreadableInput(fault.linesDown + 1, message("notJson", fault.problem));
  const value = parseJson(text);
  if (!isJsonObject(value)) {
    throw unreadable(
      1,
      'expected an object of category names and ids, such as {"Dog": 1, "Cat": 2}',
    );
  }
  return Object.entries(value).map(([name, id]) => category(name, id, "json", 0));
}

async function wholeText(chunks: ByteChunks): Promise<string> {
  const tooMany = message("other", `expected at most ${categoriesBytesMax} bytes of categories`);
  return new TextDecoder().decode(await wholeInput(chunks, categoriesBytesMax, tooMany));
}

async function fromCsv(chunks: ByteChunks, delimiter: string): Promise<Category[]> {
  const { columns, batches } = await readTable(csvRows(chunks, delimiter));
  const header = columns.map((column) => column.toLowerCase());
  const name = header.indexOf("name");
  const id = header.indexOf("id");
  if (name < 0 || id < 0) {
    throw unreadable(1, "expected a header line with the columns name and id");
  }
  const categories: Category[] = [];
  for await (const { lines, records } of batches) {
    for (const [index, record] of records.entries()) {
      const line = lines[index] ?? 0;
      if (record instanceof MalformedRecord) throw new UnreadableInput(line, record.problem);
      const fields = record as readonly string[];
      categories.push(category(fields[name] ?? "", fields[id], "csv", line));
    }
  }
  return categories;
}

function category(name: string, value: unknown, notation: Notation, line: number): Category {
  const id = int64Of(value, notation);
  const label = `category ${JSON.stringify(name)}`;
  if (name.trim() === "" || !isPetName(name)) {
    throw unreadable(line, `${label}: expected a name`);
  }
  if (id === undefined) {
    throw unreadable(
      line,
      `${label}: expected a whole number of 64 bits as id, found ${shown(value)}`,
    );
  }
  return { name: name.trim(), id };
}
