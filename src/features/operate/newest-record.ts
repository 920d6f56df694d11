/** When something happened in a store at last, to compare a clock with. */
import { windowMs } from "../../domain/windows.ts";

/** For either kind of database, whose schema is `schema` with a dot behind it, or "". */
export const newestRecordSql = (schema: string): string => {
  const times = [
    "key_events at_ms",
    "changes at_ms",
    "schedule tried_at_ms",
    "sessions seen_at_ms",
  ];
  const selects = times.map((each) => {
    const [table, column] = each.split(" ");
    return `SELECT max(${column}) AS at FROM ${schema}${table}`;
  });
  return `SELECT max(at) AS newest FROM (${selects.join(" UNION ALL ")}) AS times`;
};

export const newestWindowSql = (schema: string): string =>
  `SELECT max(minute_label) * ${windowMs.minute} AS newest FROM ${schema}rate_windows`;
