/** The migrations in their order. `bun run db:generate` writes this file. */
import catalogue0000 from "../../../drizzle/sqlite/catalogue/0000_initial.sql" with { type: "text" };
import catalogue0001 from "../../../drizzle/sqlite/catalogue/0001_animals_kept_true.sql" with { type: "text" };
import catalogue0002 from "../../../drizzle/sqlite/catalogue/0002_people_by_name.sql" with { type: "text" };
import catalogue0003 from "../../../drizzle/sqlite/catalogue/0003_followed_lists.sql" with { type: "text" };
import catalogue0004 from "../../../drizzle/sqlite/catalogue/0004_what_lists_said.sql" with { type: "text" };
import limits0000 from "../../../drizzle/sqlite/limits/0000_initial.sql" with { type: "text" };
import limits0001 from "../../../drizzle/sqlite/limits/0001_last_address.sql" with { type: "text" };
import { migration } from "../migration-history.ts";

export const migrationsOf = {
  catalogue: [
    migration("0000_initial", catalogue0000),
    migration("0001_animals_kept_true", catalogue0001),
    migration("0002_people_by_name", catalogue0002),
    migration("0003_followed_lists", catalogue0003),
    migration("0004_what_lists_said", catalogue0004),
  ],
  limits: [migration("0000_initial", limits0000), migration("0001_last_address", limits0001)],
};
