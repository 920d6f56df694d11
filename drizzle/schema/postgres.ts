/**
 * The tables of PostgreSQL, as drizzle-kit takes them: what a module exports. migrate.ts makes
 * their schema, because the list of applied migrations is in it too.
 */
import { rehome, tableOf } from "../../src/features/postgres/columns.ts";
import { catalogue, pets } from "../../src/features/postgres/schema.ts";
import { catalogueTables } from "../../src/features/tables.ts";
import { limitsTables } from "../../src/storage/counters.ts";
import * as tables from "../../src/storage/tables.ts";

const others = [...catalogueTables, ...limitsTables].filter((table) => table !== tables.pets);

export = [rehome, ...others.map((table) => tableOf(table)), pets, catalogue];
