/**
 * Loaded before the tests that test-system/tools/prism.test.ts runs: Prism judges what `fetch` was
 * answered when all of them have ended.
 */
import { afterAll } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { prismJudge, type Exchange } from "./prism.ts";

/** Has the document, and gets what was found. */
const folder = process.env["TEST_JUDGE"] ?? "";
const longestMs = 600_000;

/** What was found: how many answers each operation and status of the document had. */
export interface Findings {
  readonly judged: Record<string, number>;
  readonly violations: readonly string[];
}

/** Exchanges by what Prism sees of them: two that differ in numbers of headers are alike. */
const kept = new Map<string, { readonly exchange: Exchange; count: number }>();

function keep(exchange: Exchange): void {
  const { request, answer } = exchange;
  const { authorization = "", ...headers } = request.headers;
  const numbers = JSON.stringify(answer.headers).replaceAll(/[0-9a-f-]{36}|\d+/g, "0");
  const scheme = authorization.split(" ", 1);
  const seen = { ...request, headers, scheme, status: answer.status, body: answer.body };
  const known = kept.getOrInsertComputed(JSON.stringify([seen, request.body, numbers]), () => ({
    exchange,
    count: 0,
  }));
  known.count += 1;
}

/** Keeps an answer when all of it has come. Its server may be killed before. */
async function keepWhole(request: Request, response: Response): Promise<void> {
  const { pathname, search } = new URL(request.url);
  if (!pathname.startsWith("/v1/")) return;
  const bodies = [request.text(), response.text()];
  const [sent = "", body = ""] = await Promise.all(bodies);
  const { method, headers } = request;
  keep({
    request: { method, target: pathname + search, headers: headers.toJSON(), body: sent },
    answer: { status: response.status, headers: response.headers.toJSON(), body },
  });
}

const pending = new Set<Promise<void>>();
const original = globalThis.fetch;
const judged = async (address: string | URL | Request, init?: RequestInit) => {
  const request = new Request(address as string, init);
  const response = await original(address, init);
  const keeping = keepWhole(request, response.clone() as Response).catch(() => undefined);
  pending.add(keeping);
  void keeping.finally(() => pending.delete(keeping));
  return response;
};
globalThis.fetch = Object.assign(judged, { preconnect: original.preconnect });

afterAll(async () => {
  const judge = await prismJudge(readFileSync(join(folder, "openapi.json"), "utf8"));
  await Promise.all(pending);
  const counts: Record<string, number> = {};
  const violations: string[] = [];
  for (const { exchange, count } of kept.values()) {
    const verdict = await judge(exchange);
    if (verdict.judged !== undefined)
      counts[verdict.judged] = (counts[verdict.judged] ?? 0) + count;
    violations.push(...verdict.violations);
  }
  const findings: Findings = { judged: counts, violations };
  writeFileSync(join(folder, "findings.json"), JSON.stringify(findings));
}, longestMs);
