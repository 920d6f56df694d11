// Hono on Bun with its own bearer middleware and logger, hono-rate-limiter, zod and bun:sqlite.
import { Database } from "bun:sqlite";
import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { bearerAuth } from "hono/bearer-auth";
import { logger } from "hono/logger";
import { rateLimiter } from "hono-rate-limiter";
import { z } from "zod";
import { statements, hashOf, page, toPet } from "./sql.js";

const db = new Database(process.env.DATABASE, { readwrite: true, create: false, strict: true });
db.run("PRAGMA journal_mode = WAL");
if (process.env.SYNCHRONOUS) db.run(`PRAGMA synchronous = ${process.env.SYNCHRONOUS}`);
const findKey = db.query(statements.key);
const list = db.query(statements.list);
const listByStatus = db.query(statements.listByStatus);
const get = db.query(statements.get);
const create = db.query(statements.create);

const Status = z.enum(["available", "pending", "sold"]);
const NewPet = z.object({ name: z.string(), categoryId: z.int(), status: Status.optional() });
const Query = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  after: z.coerce.number().int().default(0),
  status: Status.optional(),
});
const invalid = (result, c) => {
  if (result.success) return undefined;
  return c.json({ code: "invalid_request", message: result.error.message, status: 400 }, 400);
};

const app = new Hono();
const log = Bun.file(process.env.ACCESS_LOG).writer();
app.use(logger((line) => void log.write(`${new Date().toISOString()} ${line}\n`)));
app.use(
  bearerAuth({
    verifyToken: async (token, c) => {
      const apiKey = findKey.get(hashOf(token));
      if (!apiKey) return false;
      c.set("apiKey", apiKey);
      return true;
    },
    invalidToken: {
      message: { code: "unauthorized", message: "The API key is invalid.", status: 401 },
    },
    noAuthenticationHeader: {
      message: { code: "unauthorized", message: "An API key is required.", status: 401 },
    },
  }),
);
const limited = (windowMs, limit) =>
  rateLimiter({
    windowMs,
    limit,
    keyGenerator: (c) => String(c.get("apiKey").id),
    standardHeaders: "draft-6",
    message: { code: "rate_limited", message: "Too many requests.", status: 429 },
  });
app.use(limited(86_400_000, Number(process.env.PER_DAY)));
app.use(limited(60_000, (c) => c.get("apiKey").perMinute));

app.get("/v1/pets", zValidator("query", Query, invalid), (c) => {
  const { limit, after, status } = c.req.valid("query");
  const rows =
    status === undefined ? list.all(after, limit + 1) : listByStatus.all(status, after, limit + 1);
  const { pets, link } = page(rows, limit, status);
  if (link) c.header("Link", link);
  return c.json(pets);
});
app.get("/v1/pets/:id", (c) => {
  const row = get.get(Number(c.req.param("id")));
  if (row) return c.json(toPet(row));
  return c.json({ code: "not_found", message: "There is no such animal.", status: 404 }, 404);
});
app.post("/v1/pets", zValidator("json", NewPet, invalid), (c) => {
  const pet = c.req.valid("json");
  const { lastInsertRowid } = create.run(pet.name, pet.categoryId, pet.status ?? null);
  return c.json({ id: Number(lastInsertRowid), ...pet }, 201);
});

export default { hostname: "127.0.0.1", port: Number(process.env.PORT), fetch: app.fetch };
