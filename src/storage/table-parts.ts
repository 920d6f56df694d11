/** What Drizzle's table of either database is made of, from the declaration of the table. */
import { isNotNull, sql, type SQL, type SQLWrapper } from "drizzle-orm";
import { type Column, type ColumnKind, columnName, type Table } from "./declare.ts";

/** A column that is being built, as far as the builders of both databases agree. */
interface ColumnBuilder<Made> {
  primaryKey(): unknown;
  notNull(): unknown;
  default(value: never): unknown;
  unique(): unknown;
  references(column: () => Made): unknown;
}

interface IndexBuilder<Made, Constraint> {
  on(...columns: [Made, ...Made[]]): Constraint & { where(condition: SQL): Constraint };
}

/** What Drizzle offers for the tables of one database. */
interface Kit<Builder, Made, Constraint> {
  readonly kinds: Readonly<Record<ColumnKind, (name: string) => Builder & ColumnBuilder<Made>>>;
  /** A column for numbers that the database gives. */
  given(table: string, name: string): Builder;
  check(name: string, rule: SQL): Constraint;
  primaryKey(key: { columns: [Made, ...Made[]] }): Constraint;
  index(name: string): IndexBuilder<Made, Constraint>;
  uniqueIndex(name: string): IndexBuilder<Made, Constraint>;
}

/** The columns of a table by their properties. */
type At<Made> = Readonly<Record<string, Made>>;

/** Makes the parts of tables with `kit`. A reference leads to the table in `made`. */
export function tableParts<Builder, Made extends SQLWrapper, Constraint>(
  kit: Kit<Builder, Made, Constraint>,
  made: ReadonlyMap<string, At<Made>>,
) {
  const builderOf = (table: string, name: string, column: Column, isKey: boolean): Builder => {
    if (column.isGiven) return kit.given(table, name);
    const builder = kit.kinds[column.kind](name);
    const { references, default: value } = column;
    if (isKey) builder.primaryKey();
    else if (column.notNull) builder.notNull();
    if (value !== undefined) builder.default(value as never);
    if (column.unique) builder.unique();
    if (references !== undefined) builder.references(() => made.get(references)?.["id"] as Made);
    return builder;
  };
  return {
    columns: ({ name, columns, key }: Table): Record<string, Builder> =>
      Object.fromEntries(
        Object.entries(columns).map(([property, column]) => {
          const isKey = key.length === 1 && key[0] === property;
          return [property, builderOf(name, columnName(property), column, isKey)];
        }),
      ),
    constraints(declared: Table, at: At<Made>): Constraint[] {
      const { key, indexes } = declared;
      const of = (property: string) => at[property] as Made;
      const all = (properties: readonly string[]) => properties.map(of) as [Made, ...Made[]];
      return [
        ...checksOf(declared, at),
        ...(key.length > 1 ? [kit.primaryKey({ columns: all(key) })] : []),
        ...indexes.map(({ name, on, unique, whereNotNull }) => {
          const built = (unique ? kit.uniqueIndex(name) : kit.index(name)).on(...all(on));
          return whereNotNull === undefined ? built : built.where(isNotNull(of(whereNotNull)));
        }),
      ];
    },
  };

  function checksOf(declared: Table, at: At<Made>): Constraint[] {
    const { name, columns, singleRow, checks = {} } = declared;
    const ofValues = Object.entries(columns).flatMap(([property, { values }]) => {
      if (values === undefined) return [];
      const rule = sql`${at[property]} in (${oneOf(values)})`;
      return [kit.check(`${name}_${columnName(property)}`, rule)];
    });
    const ofOneRow = singleRow ? [kit.check(`${name}_one_row`, sql`${at["id"]} = 1`)] : [];
    const others = Object.entries(checks).map(([key, rule]) => kit.check(key, ruled(rule, at)));
    return [...ofValues, ...ofOneRow, ...others];
  }
}

/** A rule with the columns in place of their properties in braces. */
function ruled(rule: string, at: At<SQLWrapper>): SQL {
  const parts = rule.split(/[{}]/);
  return sql.join(parts.map((part, i) => (i % 2 === 0 ? sql.raw(part) : sql`${at[part]}`)));
}

/** The values of an enumeration as a CHECK lists them. */
function oneOf(values: readonly string[]): SQL {
  return sql.raw(values.map((value) => `'${value}'`).join(", "));
}
