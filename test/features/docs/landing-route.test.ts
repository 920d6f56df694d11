import { describe, expect, test } from "bun:test";
import { testApp } from "../../helpers/app.ts";
import { addressesIn, hashesOf, policyOf } from "../../helpers/page.ts";

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const links = (root: string) => ({
  name: "rehome",
  api: `${root}/v1`,
  documentation: `${root}/docs`,
  openapi: `${root}/docs/json`,
});

describe("GET /", () => {
  test.each([undefined, "*/*", "application/json", "text/html ; q=0.0, application/json"])(
    "gives the links as JSON to a client that accepts %p",
    async (accept) => {
      const headers = accept === undefined ? {} : { accept };
      const answer = await (await testApp()).send("/", { headers });
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toBe("application/json");
      expect(answer.headers.get("vary")).toBe("Accept");
      expect(answer.headers.get("cache-control")).toBe("no-cache");
      expect(await answer.json()).toEqual(links("http://localhost"));
    },
  );

  test.each([browser, "TEXT/HTML;q=0.5"])(
    "gives a page to %s, which runs nothing",
    async (accept) => {
      const answer = await (await testApp()).send("/", { headers: { accept } });
      expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(answer.headers.get("vary")).toBe("Accept");
      const page = await answer.text();
      const policy = policyOf(answer.headers);
      expect(policy.get("default-src")).toBe("'none'");
      expect(policy.get("script-src")).toBe("'none'");
      expect(policy.get("connect-src")).toBe("'self'");
      expect(policy.get("style-src")).toBe(hashesOf(page, "style").join(" "));
      const { api, documentation, openapi } = links("http://localhost");
      expect(page).toContain(`<code>${api}</code>`);
      const followed = addressesIn(page).filter((address) => !address.startsWith("data:"));
      expect(followed).toEqual([documentation, openapi]);
    },
  );

  test("names the address that callers use where the operator said which", async () => {
    const app = await testApp({ app: { baseUrl: "https://a.example/pets-api/v1" } });
    const answer = await app.send("/");
    expect(await answer.json()).toEqual(links("https://a.example/pets-api"));
  });

  test("needs no key, counts for nobody and says nothing of versions, data or keys", async () => {
    const app = await testApp();
    await app.key();
    const answer = await app.send("/", { headers: { accept: browser } });
    expect(answer.headers.has("x-ratelimit-limit")).toBe(false);
    const shown = (await answer.text()).replace(/<style>.*?<\/style>|<[^>]*>/gs, "");
    expect(shown).toContain("Documentation");
    expect(shown).not.toMatch(/\d+\.\d+\.\d+|key_|rehome_live_|sqlite|bun/i);
  });
});
