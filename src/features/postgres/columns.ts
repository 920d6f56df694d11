import { type ColumnKind } from "../../storage/declare.ts";

export const schemaName = "rehome";
/** The type of each kind of column. */
export const columnTypes = {
  int64: "bigint",
  count: "bigint",
  text: "text",
  json: "json",
  bytes: "bytea",
} as const satisfies Record<ColumnKind, string>;
/** The type of an array that holds values of each kind of column; JSON goes as text. */
export const arrayTypes = { ...columnTypes, json: "text" } as const;
