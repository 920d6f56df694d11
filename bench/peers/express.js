// Express with express-rate-limit, morgan, zod and better-sqlite3, on Node.
import { createWriteStream } from "node:fs";
import express from "express";
import { rateLimit } from "express-rate-limit";
import morgan from "morgan";
import { z } from "zod";
import { openStore } from "./store.js";

const store = openStore();
const app = express();
app.disable("x-powered-by");
app.use(morgan("combined", { stream: createWriteStream(process.env.ACCESS_LOG) }));

const Status = z.enum(["available", "pending", "sold"]);
const NewPet = z.object({ name: z.string(), categoryId: z.int(), status: Status.optional() });
const Query = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  after: z.coerce.number().int().default(0),
  status: Status.optional(),
});

const refuse = (response, status, code, message) =>
  response.status(status).json({ code, message, status });

app.use((request, response, next) => {
  const [scheme, key] = (request.headers.authorization ?? "").split(" ");
  const apiKey = scheme === "Bearer" && key ? store.findKey(key) : undefined;
  if (!apiKey) return refuse(response, 401, "unauthorized", "The API key is missing or invalid.");
  request.apiKey = apiKey;
  next();
});
const limited = (windowMs, limit) =>
  rateLimit({
    windowMs,
    limit,
    keyGenerator: (request) => String(request.apiKey.id),
    legacyHeaders: true,
    standardHeaders: false,
    handler: (_request, response) =>
      refuse(response, 429, "rate_limited", "Too many requests, please try again later."),
  });
app.use(limited(86_400_000, Number(process.env.PER_DAY)));
app.use(limited(60_000, (request) => request.apiKey.perMinute));
app.use(express.json({ limit: "64kb" }));

app.get("/v1/pets", (request, response) => {
  const query = Query.safeParse(request.query);
  if (!query.success) return refuse(response, 400, "invalid_request", query.error.message);
  const { limit, after, status } = query.data;
  const { pets, link } = store.list(limit, after, status);
  if (link) response.set("Link", link);
  response.json(pets);
});
app.get("/v1/pets/:id", (request, response) => {
  const found = store.get(Number(request.params.id));
  if (!found) return refuse(response, 404, "not_found", "There is no such animal.");
  response.json(found);
});
app.post("/v1/pets", (request, response) => {
  const pet = NewPet.safeParse(request.body);
  if (!pet.success) return refuse(response, 400, "invalid_request", pet.error.message);
  response.status(201).json(store.create(pet.data));
});

app.listen(Number(process.env.PORT), "127.0.0.1");
