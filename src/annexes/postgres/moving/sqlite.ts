import type { Database, SQLQueryBindings } from "bun:sqlite";
import { limitsTables } from "../../../storage/limits-tables.ts";
import {
  type Cell,
  type LastNumbers,
  numberedTables,
  type Part,
  type Row,
  type TransferStore,
} from "./parts.ts";

const inLimits = new Set(limitsTables.map(({ name }) => name));

/** A data folder's two databases, for moving them to another store or from one. */
export function transferStore(
  catalogue: Database,
  limits: Database,
  onChange: () => void,
): TransferStore {
  const of = ({ table }: Part) => (inLimits.has(table) ? limits : catalogue);
  const one = (sql: string): bigint =>
    catalogue.query<{ value: bigint | null }, []>(sql).get()?.value ?? 0n;
  const lastOf = (table: string) =>
    one(`SELECT max(seq) AS value FROM sqlite_sequence WHERE name = '${table}'`);

  return {
    read: (part, after, limit) => readRows(of(part), part, after, limit),
    write(part, rows) {
      const marks = part.columns.map(() => "?").join(", ");
      const insert = of(part).query<unknown, SQLQueryBindings[]>(
        `INSERT INTO ${part.table} (${columnNames(part)}) VALUES (${marks}) ON CONFLICT DO NOTHING`,
      );
      of(part)
        .transaction(() => {
          for (const row of rows) insert.run(...row);
        })
        .immediate();
    },
    lastPet: () => one("SELECT max(id) AS value FROM pets"),
    lastNumbers: () => ({
      keys: Object.fromEntries(numberedTables.map((table) => [table, lastOf(table)])),
      epoch: one("SELECT epoch AS value FROM key_epoch"),
    }),
    finish(last) {
      catalogue.transaction(() => finishNumbers(catalogue, last)).immediate();
      onChange();
    },
  };
}

function columnNames({ columns }: Part): string {
  return columns.map(({ name }) => `"${name}"`).join(", ");
}

function readRows(
  db: Database,
  part: Part,
  after: readonly Cell[] | undefined,
  limit: number,
): Row[] {
  const { key } = part;
  const above =
    after === undefined ? "" : `WHERE (${key.join(", ")}) > (${key.map(() => "?").join(", ")})`;
  const rows = db
    .query<unknown, SQLQueryBindings[]>(
      `SELECT ${columnNames(part)} FROM ${part.table} ${above} ORDER BY ${key.join(", ")} LIMIT ?`,
    )
    .values(...(after ?? []), limit);
  return rows as Row[];
}

function finishNumbers(db: Database, last: LastNumbers): void {
  for (const [table, value] of Object.entries(last.keys)) {
    const raised = db.run("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", [
      value,
      table,
    ]);
    if (raised.changes === 0) {
      db.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [table, value]);
    }
  }
  db.run("UPDATE key_epoch SET epoch = max(epoch, ?) + 1", [last.epoch]);
}
