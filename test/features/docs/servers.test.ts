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

  test("are relative where none was named, whatever host a caller makes up", async () => {
    const app = await testApp();
    const bodies = new Set<string>();
    for (const host of ["localhost", "c.example:8443", `a"'&lt;$&.example`]) {
      const answer = await app.elysia.handle(new Request(`http://${host}/docs/json`));
      bodies.add(await answer.text());
      const page = await app.elysia.handle(new Request(`http://${host}/docs`));
      expect(await page.text()).not.toContain(host);
    }
    expect([...bodies]).toEqual([jsonText(document)]);
    expect(document.servers).toEqual([{ url: "/v1", description: "This service" }]);
    const answer = await app.send("/docs/yaml");
    expect(answer.headers.get("content-type")).toBe("application/yaml");
    expect(parse(await answer.text())).toEqual(JSON.parse(jsonText(document)));
  });
});
