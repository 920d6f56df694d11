import type { SQL } from "bun";
import type { Runner } from "../connections.ts";
import {
  type Cell,
  type Column,
  type LastNumbers,
  numberedTables,
  type Part,
  type Row,
  type TransferStore,
} from "./parts.ts";

/** How long a statement of a transfer may take: it is nobody's request. */
const statementTimeoutMs = 10 * 60_000;

const arrayTypes = {
  int64: "bigint",
  count: "bigint",
  text: "text",
  json: "text",
  bytes: "bytea",
} as const;

const quoted = ({ name }: Column) => `"${name}"`;
/** JSON goes as text both ways, so that it arrives as it was. */
const written = (column: Column) =>
  column.type === "json" ? `${quoted(column)}::json` : quoted(column);
const read = (column: Column) =>
  column.type === "json" ? `${quoted(column)}::text` : quoted(column);

const sequenceOf = (table: string) => `rehome.${table}_id_seq`;

/** A PostgreSQL database, for moving it to another store or from one. */
export class PostgresTransfer implements TransferStore {
  readonly #changes: Runner<{ readonly sql: SQL }>;

  constructor(changes: Runner<{ readonly sql: SQL }>) {
    this.#changes = changes;
  }

  read(part: Part, after: readonly Cell[] | undefined, limit: number): Promise<Row[]> {
    const key = part.key.map((name) => `"${name}"`).join(", ");
    const marks = part.key.map((_, at) => `$${at + 2}`);
    const above = after === undefined ? "" : `WHERE (${key}) > (${marks.join(", ")})`;
    const text = `SELECT ${part.columns.map(read).join(", ")} FROM rehome.${part.table} ${above}
      ORDER BY ${key} LIMIT $1`;
    return this.#run((sql) => sql.unsafe(text, [limit, ...(after ?? [])]).values());
  }

  async write(part: Part, rows: readonly Row[]): Promise<void> {
    const { table, columns } = part;
    const arrays = columns.map(({ type }, at) => `$${at + 1}::${arrayTypes[type]}[]`);
    const text = `
      INSERT INTO rehome.${table} (${columns.map(quoted).join(", ")}) OVERRIDING SYSTEM VALUE
      SELECT ${columns.map(written).join(", ")}
      FROM unnest(${arrays.join(", ")}) AS given (${columns.map(quoted).join(", ")})
      ON CONFLICT DO NOTHING`;
    await this.#run((sql) =>
      sql.unsafe(
        text,
        columns.map((_, at) => rows.map((row) => row[at] ?? null)),
      ),
    );
  }

  async lastPet(): Promise<bigint> {
    const [row] = await this.#run((sql) => sql`SELECT max(id) AS id FROM rehome.pets`);
    return (row as { id: bigint | null }).id ?? 0n;
  }

  async lastNumbers(): Promise<LastNumbers> {
    return this.#run(async (sql) => {
      const keys: Record<string, bigint> = {};
      for (const table of numberedTables) {
        const [row] = (await sql.unsafe(
          `SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM ${sequenceOf(table)}`,
        )) as [{ last: bigint }];
        keys[table] = row.last;
      }
      const [row] = (await sql`SELECT epoch FROM rehome.key_epoch`) as [{ epoch: bigint }];
      return { keys, epoch: row.epoch };
    });
  }

  async finish(last: LastNumbers): Promise<void> {
    const numbers = await this.lastNumbers();
    await this.#run((sql) =>
      sql.begin(async (tx) => {
        await tx`UPDATE rehome.catalogue
          SET version = version + 1, animals = (SELECT count(*) FROM rehome.pets)`;
        await tx`UPDATE rehome.key_epoch SET epoch = greatest(epoch, ${last.epoch}::bigint) + 1`;
        for (const [table, wanted] of Object.entries(last.keys)) {
          if (wanted <= (numbers.keys[table] ?? 0n)) continue;
          await tx`SELECT setval(${sequenceOf(table)}::regclass, ${wanted}::bigint)`;
        }
      }),
    );
  }

  #run<T>(work: (sql: SQL) => Promise<T>): Promise<T> {
    return this.#changes.run(({ sql }) => work(sql), {
      deadlineMs: performance.now() + statementTimeoutMs,
    });
  }
}
