/** openapi-typescript and openapi-fetch: types from the document, and `fetch` behind them. */
import createClient from "openapi-fetch";
import type { components, paths } from "../generated/schema.d.ts";

const client = createClient<paths>({
  baseUrl: process.env["API_URL"] ?? "",
  headers: { authorization: `Bearer ${process.env["API_KEY"]}` },
});

const added = await client.POST("/pets", {
  body: { name: "Rex", categoryId: 7, status: "available" },
});
await client.POST("/pets", { body: { name: "Mia", categoryId: 8 } });
const page = await client.GET("/pets", { params: { query: { limit: 1, status: "available" } } });
const got = await client.GET("/pets/{petId}", { params: { path: { petId: added.data?.id ?? 0 } } });
const missing = await client.GET("/pets/{petId}", { params: { path: { petId: 404 } } });
// @ts-expect-error: categoryId is required
const invalid = await client.POST("/pets", { body: { name: "Rex" } });
// @ts-expect-error: there is no such status
await client.GET("/pets", { params: { query: { status: "lost" } } });

const pets: components["schemas"]["Pets"] | undefined = page.data;
const code: "not_found" | undefined =
  missing.error?.code === "not_found" ? missing.error.code : undefined;

// An int64 as it is: the answer as text, and a parser that is told to keep it.
const exact = await client.GET("/pets/{petId}", {
  params: { path: { petId: Number(process.env["BIG_ID"]) } },
  parseAs: "text",
});

process.stdout.write(
  JSON.stringify({
    added: added.data,
    pets,
    got: got.data?.name,
    code,
    invalid: invalid.error?.message,
    left: added.response.headers.get("x-ratelimit-remaining"),
    exact: exact.data,
  }),
);
