/** The migrations in their order. `bun run db:generate` writes this file. */
import postgres0000 from "../../../drizzle/postgres/0000_initial.sql" with { type: "text" };
import postgres0001 from "../../../drizzle/postgres/0001_animals_kept_true.sql" with { type: "text" };
import postgres0002 from "../../../drizzle/postgres/0002_last_address.sql" with { type: "text" };
import postgres0003 from "../../../drizzle/postgres/0003_people_by_name.sql" with { type: "text" };
import postgres0004 from "../../../drizzle/postgres/0004_followed_lists.sql" with { type: "text" };
import postgres0005 from "../../../drizzle/postgres/0005_what_lists_said.sql" with { type: "text" };
import { migration } from "../../storage/migration-history.ts";

export const postgresMigrations = [
  migration("0000_initial", postgres0000),
  migration("0001_animals_kept_true", postgres0001),
  migration("0002_last_address", postgres0002),
  migration("0003_people_by_name", postgres0003),
  migration("0004_followed_lists", postgres0004),
  migration("0005_what_lists_said", postgres0005),
];
