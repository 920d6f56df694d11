/** The tables of PostgreSQL, as drizzle-kit takes them: what a module exports. */
export * from "../../src/storage/schema.postgres.ts";
