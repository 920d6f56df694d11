import { describe, expect, test } from "bun:test";
import { parse } from "yaml";
import { jsonText } from "../../../src/domain/exact-json.ts";
import { documentOf } from "../../../src/features/docs/openapi/document.ts";
import { TestClock, testApp } from "../../helpers/app.ts";

const document = await documentOf({
  baseUrl: undefined,
  stagingBaseUrl: undefined,
  clock: new TestClock().read,
});

describe("the servers of the document that is served", () => {
  const serversOf = async (answer: Response) =>
    ((await answer.json()) as { servers: { url: string }[] }).servers.map(({ url }) => url);

  test("are the addresses that the operator named", async () => {
    const app = await testApp({
      app: { baseUrl: "https://a.example/v1", stagingBaseUrl: "https://b.example/v1" },
    });
    const answer = await app.send("/docs/json");
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(await serversOf(answer)).toEqual(["https://a.example/v1", "https://b.example/v1"]);
  });

  test("are the address that was asked where none was named", async () => {
    const app = await testApp();
    expect(await serversOf(await app.send("/docs/json"))).toEqual(["http://localhost/v1"]);
    const other = await app.elysia.handle(new Request("http://c.example:8443/docs/json"));
    expect(await serversOf(other)).toEqual(["http://c.example:8443/v1"]);
  });

  test("are text, whatever host a caller makes up", async () => {
    const app = await testApp();
    const forged = (path: string) =>
      app.elysia.handle(new Request(`http://a"'&lt;$&.example${path}`));
    expect(await serversOf(await forged("/docs/json"))).toEqual([`http://a"'&lt;$&.example/v1`]);
    const page = await (await forged("/docs")).text();
    expect(page).toContain("http://a&quot;&#39;&amp;lt;$&amp;.example/v1");
  });

  test("are all that differs from the document without a server", async () => {
    const servers = [{ url: "http://localhost/v1", description: "This service" }];
    const app = await testApp();
    const served = await (await app.send("/docs/json")).text();
    expect(served).toBe(jsonText({ ...document, servers }));
    const answer = await app.send("/docs/yaml");
    expect(answer.headers.get("content-type")).toBe("application/yaml");
    expect(parse(await answer.text())).toEqual(JSON.parse(served));
  });
});
