import { defineConfig } from "drizzle-kit";

/** Each database has its schema and its migrations; `bun run db:generate` goes through all of them. */
const schemas = {
  catalogue: {
    dialect: "sqlite",
    schema: "./drizzle/schema/catalogue.ts",
    out: "./drizzle/sqlite/catalogue",
  },
  limits: {
    dialect: "sqlite",
    schema: "./drizzle/schema/limits.ts",
    out: "./drizzle/sqlite/limits",
  },
  postgres: {
    dialect: "postgresql",
    schema: "./drizzle/schema/postgres.ts",
    out: "./drizzle/postgres",
  },
} as const;

const chosen = process.env["DRIZZLE_SCHEMA"] ?? "";
if (!Object.hasOwn(schemas, chosen))
  throw new Error(`DRIZZLE_SCHEMA must be one of ${Object.keys(schemas).join(", ")}`);

export default defineConfig(schemas[chosen as keyof typeof schemas]);
