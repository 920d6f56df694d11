/**
 * One statement for both databases. A transaction is a generator that yields statements and gets
 * their rows. SQLite's engine runs it synchronously, PostgreSQL's with promises. `Dialect` and
 * `inDialect` have the differences.
 *
 *   const rename = (id: bigint, name: string) =>
 *     function* (): Steps<boolean> {
 *       const named = sql<{ name: string }>`SELECT name FROM ${categories} WHERE id = ${id}`;
 *       if ((yield* row(named)) === undefined) return false;
 *       yield* run(sql`UPDATE ${categories} SET name = ${name} WHERE id = ${id}`);
 *       return true;
 *     };
 *   await store.transact(rename(1n, "Dog"));
 *
 * Rows have the names of the statement. Every integer is a bigint: cast what PostgreSQL would make
 * an int or a numeric. JSON is text: select it with `CAST(... AS text)`, and write it with `json`.
 */
import { jsonText } from "../domain/exact-json.ts";
import { type Column, columnName, type Columns, type Table } from "./declare.ts";
import { storeState } from "./tables.ts";

/** What may stand in a statement's place for a value. */
export type Value = string | number | bigint | Uint8Array | null;

type Piece =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "table"; readonly table: Table }
  | { readonly kind: "dialect"; readonly choose: (dialect: Dialect) => string };

/** A statement, or a part of one. `Row` is what it answers. */
export interface Statement<Row = unknown> {
  readonly pieces: readonly Piece[];
  /** For the type alone. */
  readonly row?: Row;
}

/** How a database writes what the other one writes otherwise, in every statement. */
export interface Dialect {
  readonly name: "sqlite" | "postgres";
  /** The placeholder of the parameter at `position`, which counts from 1. */
  placeholder(position: number): string;
  /** A placeholder for a parameter that is JSON text. */
  jsonPlaceholder(position: number): string;
  table(table: Table): string;
  /** The type of a column of a temporary table. */
  columnType(column: Column): string;
  /** What ends the statement that makes a table. */
  readonly tableOptions: string;
}

type Part = Value | undefined | Statement | Table;

/** A statement as SQL. Values become parameters, tables their names, and statements its parts. */
export function sql<Row = unknown>(
  strings: TemplateStringsArray,
  ...parts: readonly Part[]
): Statement<Row> {
  const pieces = strings.flatMap((text, at): Piece[] => {
    const piece: Piece = { kind: "text", text };
    return at === 0 ? [piece] : [...piecesOf(parts[at - 1]), piece];
  });
  return { pieces };
}

function piecesOf(part: Part): readonly Piece[] {
  if (part === undefined) return [{ kind: "value", value: null }];
  if (part === null || typeof part !== "object" || part instanceof Uint8Array) {
    return [{ kind: "value", value: part }];
  }
  return "pieces" in part ? part.pieces : [{ kind: "table", table: part }];
}

/** Raw SQL, such as names of columns. Never pass user input. */
export function raw(text: string): Statement {
  return { pieces: [{ kind: "text", text }] };
}

/** A value as JSON. */
export function json(value: unknown): Statement {
  return { pieces: [{ kind: "json", value }] };
}

/** Raw SQL that the databases write in different ways. */
export function inDialect(words: Readonly<Record<Dialect["name"], string>>): Statement {
  return { pieces: [{ kind: "dialect", choose: ({ name }) => words[name] }] };
}

/**
 * Behind a SELECT: locks its rows until the transaction ends. In SQLite the whole transaction holds
 * the only lock there is.
 */
export const forUpdate = inDialect({ sqlite: "", postgres: "FOR UPDATE" });

/** Statements with `separator` between them. */
export function joined(statements: readonly Statement[], separator = ", "): Statement {
  const between: Piece = { kind: "text", text: separator };
  return {
    pieces: statements.flatMap(({ pieces }, at) => (at === 0 ? pieces : [between, ...pieces])),
  };
}

/** Values in parentheses, for IN. There must be one at least. */
export function list(values: readonly Value[]): Statement {
  return sql`(${joined(values.map((value) => sql`${value}`))})`;
}

/** The names of a table's columns, all or those of `properties`, each behind `prefix`. */
export function columnsOf<C extends Columns>(
  { columns }: Table<C>,
  properties: readonly (keyof C & string)[] = Object.keys(columns),
  prefix = "",
): Statement {
  return raw(properties.map((property) => `${prefix}"${columnName(property)}"`).join(", "));
}

/** Makes a table that this session alone sees, and that ends with it. */
export function createTemporary({ name, columns, key }: Table): Statement {
  const keys = key.map((property) => `"${columnName(property)}"`).join(", ");
  const choose = ({ columnType, tableOptions }: Dialect) => {
    const cells = Object.entries(columns).map(([property, column]) => {
      const isNull = column.notNull ? " NOT NULL" : "";
      return `"${columnName(property)}" ${columnType(column)}${isNull}`;
    });
    return `CREATE TEMP TABLE "${name}" (${cells.join(", ")}, PRIMARY KEY (${keys}))${tableOptions}`;
  };
  return { pieces: [{ kind: "dialect", choose }] };
}

/** Rows for a table, added in one go: as many as fit into memory. */
export interface Insertion {
  readonly into: Table;
  /** The properties of the table's columns. */
  readonly columns: readonly string[];
  /** Cells in the order of `columns`; JSON as text. */
  readonly rows: readonly (readonly Value[])[];
  /** Skips rows whose key exists. */
  readonly ifAbsent?: boolean;
}

/** What a transaction asks of its engine. */
export type Step =
  | { readonly kind: "rows"; readonly statement: Statement }
  | { readonly kind: "count"; readonly statement: Statement }
  | { readonly kind: "insert"; readonly insertion: Insertion }
  /**
   * Orders this change of animals among those of all processes, before it begins, and announces it.
   * `counted` returns by how many the number of animals changed.
   */
  | { readonly kind: "animals"; readonly change: "any" | "additions" }
  | { readonly kind: "counted"; readonly more: number }
  /** Raises the epoch of the keys and answers it. */
  | { readonly kind: "epoch" };

/** A transaction: it yields steps, gets their results, and returns its own. */
export type Steps<T> = Generator<Step, T, Answer>;
export type Answer = readonly object[] | number;

/** The rows of a statement. */
export function* rows<Row>(statement: Statement<Row>): Steps<Row[]> {
  return (yield { kind: "rows", statement }) as Row[];
}

/** The first row of a statement, or undefined. */
export function* row<Row>(statement: Statement<Row>): Steps<Row | undefined> {
  const [first] = yield* rows(statement);
  return first;
}

/** Runs a statement and returns how many rows it changed. */
export function* run(statement: Statement): Steps<number> {
  return (yield { kind: "count", statement }) as number;
}

/** Adds rows to a table. Returns how many. */
export function* insert(insertion: Insertion): Steps<number> {
  return insertion.rows.length === 0 ? 0 : ((yield { kind: "insert", insertion }) as number);
}

/** The first step of a transaction that changes animals. */
export function* changeAnimals(): Steps<void> {
  yield { kind: "animals", change: "any" };
}

/** The first step of one that only adds animals, each under an id above all that were given. */
export function* addAnimals(): Steps<void> {
  yield { kind: "animals", change: "additions" };
}

/** Says, before the end of a transaction, by how many animals there are more. */
export function* countAnimals(more: number): Steps<void> {
  if (more !== 0) yield { kind: "counted", more };
}

/**
 * Raises the epoch of the keys, and returns it. Its row stays locked, so that epochs become visible
 * in their order.
 */
export function* nextEpoch(): Steps<number> {
  return (yield { kind: "epoch" }) as number;
}

/** A statement in the words of a database, and its parameters. */
export function written(
  { pieces }: Statement,
  dialect: Dialect,
): { readonly text: string; readonly values: Value[] } {
  const values: Value[] = [];
  let text = "";
  for (const piece of pieces) {
    if (piece.kind === "text") text += piece.text;
    else if (piece.kind === "table") text += dialect.table(piece.table);
    else if (piece.kind === "dialect") text += piece.choose(dialect);
    else if (piece.kind === "json") {
      text += dialect.jsonPlaceholder(values.push(jsonValue(piece.value)));
    } else text += dialect.placeholder(values.push(piece.value));
  }
  return { text, values };
}

/** JSON text of a value, or null if it is undefined. Keeps a bigint exact. */
export function jsonValue(value: unknown): string | null {
  return value === undefined || value === null ? null : jsonText(value);
}

/** The name of the number of transactions that changed animals, see store-state.ts. */
const editsFact = "animal_edits";

/** Raises the number of edits. */
export const countEdit = sql`INSERT INTO ${storeState} (name, value) VALUES (${editsFact}, '1')
  ON CONFLICT (name) DO UPDATE
  SET value = CAST(CAST(${storeState}.value AS bigint) + 1 AS text)`;

/** The number of edits, as an expression: null before the first edit. */
export const editCount: Statement = sql`(SELECT CAST(value AS bigint) FROM ${storeState}
  WHERE name = ${editsFact})`;
