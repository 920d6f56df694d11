import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { parse } from "yaml";
import { rehome, temporaryFolder } from "../../../test/helpers/binary.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

describe("rehome openapi", () => {
  const env = { HOME: folder.path };

  test("prints the document as JSON and, with --yaml, the same as YAML", async () => {
    const json = await rehome(["openapi"], { env });
    const yaml = await rehome(["openapi", "--yaml"], { env });
    expect([json.exitCode, json.stderr, yaml.exitCode, yaml.stderr]).toEqual([0, "", 0, ""]);
    const document = JSON.parse(json.stdout) as { openapi: string };
    expect(document.openapi).toBe("3.0.3");
    expect(parse(yaml.stdout)).toEqual(document);
  });

  test("needs no store, and makes none", async () => {
    const refused = await rehome(["openapi"], { env: { ...env, REHOME_DATA: "/proc/nowhere" } });
    expect(refused.exitCode).toBe(0);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test("takes the addresses from flags and from the environment", async () => {
    const { stdout } = await rehome(["openapi", "--base-url", "https://a.example/v1"], {
      env: { ...env, REHOME_STAGING_BASE_URL: "https://b.example/v1" },
    });
    const { servers } = JSON.parse(stdout) as { servers: { url: string }[] };
    expect(servers.map(({ url }) => url)).toEqual(["https://a.example/v1", "https://b.example/v1"]);
  });
});
