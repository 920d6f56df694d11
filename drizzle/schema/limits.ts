/** The tables of `limits.db`, as drizzle-kit takes them: what a module exports. */
export { rateWindows, usageDays } from "../../src/storage/schema.sqlite.ts";
