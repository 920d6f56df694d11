/** Metrics: off unless asked for, at an address of their own. */
import { expect, test } from "bun:test";
import { metricsOf, served } from "../../test/helpers/binary.ts";

test("metrics count requests by route and status, and show no key, path or address", async () => {
  await using server = await served(["--metrics", "127.0.0.1:0"], { plan: ["--plan", "pro"] });
  const metrics = await metricsOf(server);
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${server.origin}${path}`, { headers });
  const authorization = `Bearer ${server.key}`;
  await get("/v1/pets", { authorization });
  await get("/v1/pets/12345", { authorization });
  await get("/v1/pets", { authorization: "Bearer nonsense" });
  await get("/secret/path");
  const text = await (await fetch(metrics)).text();
  expect(text).toContain('rehome_requests_total{route="/v1/pets",method="GET",status="200"} 1\n');
  expect(text).toContain(
    'rehome_requests_total{route="/v1/pets/:petId",method="GET",status="404"} 1\n',
  );
  expect(text).toContain('rehome_requests_total{route="none",method="GET",status="404"} 1\n');
  expect(text).toContain('rehome_admitted_total{plan="pro"} 2\n');
  expect(text).toContain('rehome_refused_total{plan="none",reason="malformed"} 1\n');
  expect(text).not.toMatch(/12345|secret|nonsense|rehome_live|127\.0\.0\.1/);
  const elsewhere = await fetch(new URL("/v1/pets", metrics));
  expect(await elsewhere.json()).toMatchObject({ code: "not_found", status: 404 });
  expect((await get("/metrics")).status).toBe(404);
  const posted = await fetch(metrics, { method: "POST" });
  expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  expect(await posted.json()).toMatchObject({ code: "method_not_allowed", status: 405 });
});
