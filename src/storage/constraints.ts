import { sql, type SQL, type SQLWrapper } from "drizzle-orm";
import { columnName, type Table } from "./declare.ts";

/** A CHECK of a table: what must hold for each of its rows. */
export interface Check {
  readonly name: string;
  readonly rule: SQL;
}

/** The CHECKs of a declared table, on its columns in Drizzle's table of one of the databases. */
export function checksOf(
  { name, columns, singleRow, checks = {} }: Table,
  at: Readonly<Record<string, SQLWrapper>>,
): Check[] {
  const ofValues = Object.entries(columns).flatMap(([property, { values }]) =>
    values === undefined
      ? []
      : [
          {
            name: `${name}_${columnName(property)}`,
            rule: sql`${at[property]} in (${oneOf(values)})`,
          },
        ],
  );
  const ofOneRow = singleRow ? [{ name: `${name}_one_row`, rule: sql`${at["id"]} = 1` }] : [];
  const declared = Object.entries(checks).map(([called, rule]) => ({
    name: called,
    rule: rule(at),
  }));
  return [...ofValues, ...ofOneRow, ...declared];
}

/** The values of an enumeration as a CHECK lists them. */
function oneOf(values: readonly string[]): SQL {
  return sql.raw(values.map((value) => `'${value}'`).join(", "));
}
