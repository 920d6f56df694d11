import { describe, expect, test } from "bun:test";
import { decodeHTML } from "entities";
import { commonHeaders } from "../../../src/features/docs/openapi/components.ts";
import { testApp } from "../../helpers/app.ts";
import { errorExamples, operationsOf } from "../../helpers/document.ts";
import { addressesIn, hashesOf, policyOf } from "../../helpers/page.ts";

const app = await testApp({ app: { stagingBaseUrl: "https://staging.example/v1" } });
const answer = await app.send("/docs");
const page = await answer.text();
const document = (await (await app.send("/docs/json")).json()) as {
  components: { schemas: Record<string, object>; headers: Record<string, object> };
};

/** From the element with this id to the first `end`. */
const partOf = (id: string, end: string) =>
  page.slice(page.indexOf(`id="${id}"`)).split(end, 1)[0]!;

/** What a reader sees of markup. */
function textOf(markup: string): string {
  const text = decodeHTML(`<i ${markup}`.replaceAll(/<[^>]*>/g, " ")).replaceAll(/\s+/g, " ");
  return text.replaceAll(/ (?=[/.,)])/g, "").trim();
}

/** The fields that a part of the page describes, a line each. */
const fieldsOf = (part: string) =>
  [...part.matchAll(/<dt>(.*?)<\/dd>/gs)].map(([, field]) => textOf(`>${field}`));

describe("GET /docs", () => {
  test("answers with a page that is not kept without asking", () => {
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(answer.headers.get("cache-control")).toBe("no-cache");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
    expect(answer.headers.get("cross-origin-opener-policy")).toBe("same-origin");
  });

  test("lets nothing run but its own style and script, and speaks to nobody but this service", async () => {
    const policy = policyOf(answer.headers);
    expect(Object.fromEntries(policy)).toEqual({
      "default-src": "'none'",
      "style-src": hashesOf(page, "style").join(" "),
      "script-src": hashesOf(page, "script").join(" "),
      "connect-src": "'self'",
      "img-src": "data:",
      "base-uri": "'none'",
      "form-action": "'none'",
      "frame-ancestors": "'none'",
      "require-trusted-types-for": "'script'",
      "trusted-types": "'none'",
    });
    expect(page).not.toMatch(/\s(?:style|on\w+)=/);
  });

  test("is where a slash too many leads", async () => {
    const { status, headers } = await app.send("/docs/");
    expect([status, headers.get("location")]).toEqual([308, "../docs"]);
  });

  test("needs no other file and names no other host", () => {
    const addresses = addressesIn(page);
    expect(addresses.length).toBeGreaterThan(20);
    for (const address of addresses)
      expect(address).toMatch(/^(?:#|docs\/(?:json|yaml)$|data:image\/svg)/);
  });

  test("shows every operation, parameter, status, schema, header and example of the document", () => {
    const operations = operationsOf(document);
    expect(operations.map(({ operationId }) => operationId)).toEqual([
      "listPets",
      "createPet",
      "getPet",
    ]);
    const common = page.slice(page.indexOf('id="responses"')).split("</section>", 1)[0]!;
    for (const { operationId, path, parameters = [], responses } of operations) {
      const section = page.slice(page.indexOf(`id="${operationId}"`)).split("</section>", 1)[0]!;
      expect(section.replaceAll("<wbr />", "").replaceAll("<wbr>", "")).toContain(path);
      for (const { name } of parameters) expect(section).toContain(`name="${name}"`);
      for (const [status, { headers }] of Object.entries(responses)) {
        expect(section).toContain(`>${status}</span>`);
        for (const header of Object.keys(headers)) {
          const place = header in commonHeaders ? common : section;
          expect(place).toContain(`<code>${header}</code>`);
        }
      }
    }
    for (const { operationId, status, value } of errorExamples(document)) {
      expect(textOf(partOf(`${operationId}-${status}`, "</details>"))).toContain(value.message);
    }
    for (const name of Object.keys(document.components.schemas)) {
      expect(page).toContain(`id="schema-${name}"`);
    }
    expect(page).toContain("https://staging.example/v1");
    expect(page).toContain("5 December 2030");
  });

  test("says of each field what it may be, whether it is required, and where it goes", () => {
    const list = partOf("listPets", "</section>");
    expect(fieldsOf(list).slice(0, 4)).toEqual([
      "limit integer (int32) query The maximum number of animals to return. From 1 to 100. 20 when omitted.",
      "status PetStatus query Only animals with this status. By default, animals with any status. One of available pending sold.",
      expect.stringMatching(/^after integer \(int64\) query Only [^0-9]*$/),
      expect.stringMatching(/^Link string Where [^]* Absent on the last page\.$/),
    ]);
    const [once, ...newPet] = fieldsOf(partOf("createPet", "<h4>Responses"));
    expect(once).toMatch(/^Idempotency-Key string header A unique key [^]* again\.$/);
    expect(newPet).toEqual(fieldsOf(partOf("schema-NewPet", "</article>")));
    expect(fieldsOf(partOf("schema-Pet", "</article>")).slice(1)).toEqual(newPet);
    expect(newPet).toEqual([
      expect.stringMatching(/^name string required .* At most 1000 characters\.$/),
      expect.stringMatching(/^categoryId integer \(int64\) required [^0-9]*$/),
      expect.stringMatching(/^status PetStatus [^(].* One of available pending sold\.$/),
    ]);
    expect(textOf(partOf("schema-PetStatus", "</article>"))).toEndWith("available pending sold.");
  });

  test("has a target for each of its links, and no id twice", () => {
    const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    expect(ids.length).toBe(new Set(ids).size);
    const targets = addressesIn(page).filter((address) => address.startsWith("#"));
    expect(targets.length).toBeGreaterThan(5);
    for (const target of targets) expect(ids).toContain(target.slice(1));
  });

  test("is small enough for a slow line", () => {
    expect(Buffer.byteLength(page)).toBeLessThan(85 * 1024);
  });

  test("has an id on each response, and a link to each heading", () => {
    for (const { operationId, responses } of operationsOf(document)) {
      for (const status of Object.keys(responses))
        expect(page).toContain(`id="${operationId}-${status}"`);
    }
    const headings = [...page.matchAll(/<div class="heading">/g)].length;
    expect(headings).toBeGreaterThan(15);
    expect(page.match(/<h[23]>/g)).toHaveLength(headings);
    expect(page.match(/<\/h[23]>\s*<a class="anchor" href="#[^"]+"/g)).toHaveLength(headings);
  });
});
