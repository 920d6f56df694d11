// Fastify with its official plugins, its logger and better-sqlite3, on Node.
import bearerAuth from "@fastify/bearer-auth";
import rateLimit from "@fastify/rate-limit";
import Fastify from "fastify";
import { openStore } from "./store.js";

const store = openStore();
const app = Fastify({
  ajv: { customOptions: { coerceTypes: "array" } },
  logger: { file: process.env.ACCESS_LOG },
  // One line a request, where Fastify writes two.
  disableRequestLogging: true,
});
app.addHook("onResponse", async (request, reply) => {
  const { method, url, ip } = request;
  const { statusCode, elapsedTime } = reply;
  request.log.info({ method, url, ip, statusCode, elapsedTime, keyId: request.apiKey?.id });
});

const status = { type: "string", enum: ["available", "pending", "sold"] };
const pet = {
  type: "object",
  required: ["id", "name", "categoryId"],
  properties: {
    id: { type: "integer" },
    name: { type: "string" },
    categoryId: { type: "integer" },
    status,
  },
};
const newPet = {
  type: "object",
  required: ["name", "categoryId"],
  properties: { name: { type: "string" }, categoryId: { type: "integer" }, status },
};
const query = {
  type: "object",
  properties: {
    limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
    after: { type: "integer", default: 0 },
    status,
  },
};

app.setErrorHandler((error, _request, reply) => {
  const code = error.validation ? 400 : (error.statusCode ?? 500);
  reply.code(code).send({ code: error.code ?? "error", message: error.message, status: code });
});

await app.register(bearerAuth, {
  keys: new Set(),
  auth: (key, request) => {
    request.apiKey = store.findKey(key);
    return request.apiKey !== undefined;
  },
  errorResponse: (error) => ({ code: "unauthorized", message: error.message, status: 401 }),
});
await app.register(rateLimit, {
  max: (request) => request.apiKey.perMinute,
  timeWindow: "1 minute",
  keyGenerator: (request) => request.apiKey.id,
});
const dayOf = app.createRateLimit({
  max: Number(process.env.PER_DAY),
  timeWindow: "1 day",
  keyGenerator: (request) => request.apiKey.id,
});
app.addHook("preHandler", async (request, reply) => {
  const day = await dayOf(request);
  if (!day.isAllowed && day.isExceeded) {
    return reply.code(429).send({ code: "rate_limited", message: "Too many.", status: 429 });
  }
});

app.get(
  "/v1/pets",
  { schema: { querystring: query, response: { 200: { type: "array", items: pet } } } },
  async (request, reply) => {
    const { limit, after, status } = request.query;
    const { pets, link } = store.list(limit, after, status);
    if (link) reply.header("link", link);
    return pets;
  },
);
app.get(
  "/v1/pets/:id",
  {
    schema: {
      params: { type: "object", properties: { id: { type: "integer" } } },
      response: { 200: pet },
    },
  },
  async (request, reply) => {
    const found = store.get(request.params.id);
    if (found) return found;
    return reply
      .code(404)
      .send({ code: "not_found", message: "There is no such animal.", status: 404 });
  },
);
app.post(
  "/v1/pets",
  { schema: { body: newPet, response: { 201: pet } } },
  async (request, reply) => {
    const { name, categoryId, status } = request.body;
    reply.code(201);
    return store.create(status === undefined ? { name, categoryId } : { name, categoryId, status });
  },
);

await app.listen({ host: "127.0.0.1", port: Number(process.env.PORT) });
