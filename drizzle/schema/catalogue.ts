/** The tables of `rehome.db`, as drizzle-kit takes them: what a module exports. */
import { tableOf } from "../../src/storage/sqlite/columns.ts";
import { pets } from "../../src/storage/sqlite/schema.ts";
import { catalogueTables } from "../../src/features/tables.ts";
import * as tables from "../../src/storage/tables.ts";

const others = catalogueTables.filter((table) => table !== tables.pets);

export = [...others.map((table) => tableOf(table)), pets];
