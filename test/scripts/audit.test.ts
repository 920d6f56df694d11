import { expect, test } from "bun:test";
import { join } from "node:path";
import { finished } from "../helpers/finished.ts";

const script = join(import.meta.dir, "../../scripts/audit.ts");
const advisory = {
  id: 1,
  url: "https://github.com/advisories/GHSA-aaaa-bbbb-cccc",
  title: "Everything is wrong",
  severity: "critical",
  vulnerable_versions: "<99.0.0",
};

/** Runs the audit against a registry that gives this response. */
async function audited(response: () => Response) {
  using registry = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: response });
  const child = Bun.spawn([process.execPath, script], {
    env: { ...process.env, BUN_CONFIG_REGISTRY: registry.url.href },
    stdout: "pipe",
    stderr: "pipe",
  });
  return await finished(child);
}

test.each<[string, () => Response, number, string]>([
  ["nothing is known", () => Response.json({}), 0, ""],
  [
    "a vulnerability is known",
    () => Response.json({ elysia: [advisory] }),
    1,
    "elysia: critical: Everything is wrong",
  ],
  ["the registry has no audit", () => new Response("no", { status: 405 }), 0, "NOT RUN: "],
])("%s", async (_what, response, code, words) => {
  const { exitCode, stdout } = await audited(response);
  expect([exitCode, stdout]).toEqual([code, expect.stringContaining(words)]);
});
