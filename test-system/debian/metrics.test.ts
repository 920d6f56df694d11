/** What Prometheus makes of the metrics, the alert rules and the dashboard. */
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callerOf } from "../../test/helpers/ask.ts";
import { metricsOf, perDay, served, temporaryFolder } from "../../test/helpers/binary.ts";
import { finished } from "../../test/helpers/finished.ts";

const packaging = join(import.meta.dir, "../../packaging");
const read = (path: string) => readFileSync(join(packaging, path), "utf8");

async function promtool(args: string[], stdin = ""): Promise<{ exitCode: number; text: string }> {
  const cwd = join(packaging, "prometheus");
  const { exitCode, stdout, stderr } = await finished(["promtool", ...args], { cwd, stdin });
  return { exitCode, text: stdout + stderr };
}

/** The metrics of a server that did something of everything. */
async function scraped(): Promise<string> {
  await using server = await served(["--metrics", "127.0.0.1:0"], { plan: perDay(60) });
  const { create, get } = callerOf(server, server.key);
  await create();
  await get("/v1/pets/12345");
  // More than the plan has for a minute.
  for (let i = 0; i < 65; i += 1) await get();
  await callerOf(server, "nonsense").get();
  for (const path of ["/secret/path", "/metrics"]) expect((await get(path)).status).toBe(404);
  const metrics = await metricsOf(server);
  const elsewhere = await fetch(new URL("/v1/pets", metrics));
  expect(await elsewhere.json()).toMatchObject({ code: "not_found", status: 404 });
  const posted = await fetch(metrics, { method: "POST" });
  expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  expect(await posted.json()).toMatchObject({ code: "method_not_allowed", status: 405 });
  const answer = await fetch(metrics);
  expect(answer.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
  const text = await answer.text();
  expect(await server.stop()).toBe(0);
  return text;
}

const metricNames = (text: string) => new Set(text.match(/\b(?:rehome|process)_[a-z_]+/g));

interface Dashboard {
  readonly panels: readonly { targets?: readonly { expr: string }[]; title: string }[];
}
const expressions = (JSON.parse(read("grafana/rehome.json")) as Dashboard).panels
  .flatMap(({ targets = [] }) => targets)
  .map(({ expr }) => expr.replaceAll("$__rate_interval", "5m").replaceAll("$instance", "a"));

test("promtool finds nothing to criticise in the metrics, and they hold what rules and panels ask for, and no key, path or address", async () => {
  const text = await scraped();
  const { exitCode, text: said } = await promtool(["check", "metrics"], text);
  expect([said, exitCode]).toEqual(["", 0]);
  const names = metricNames(text);
  for (const label of ["_bucket", "_sum", "_count"]) {
    expect(names).toContain(`rehome_request_duration_seconds${label}`);
  }
  const asked = [...metricNames(`${expressions.join(" ")} ${rulesText()}`)];
  expect(asked.filter((name) => !names.has(name))).toEqual([]);
  expect(asked.length).toBeGreaterThan(10);
  expect(text).toMatch(/rehome_writer_batch_size_sum 1\n/);
  for (const line of [
    'requests_total{route="/v1/pets",method="GET",status="200"} 58',
    'requests_total{route="/v1/pets/:petId",method="GET",status="404"} 1',
    'requests_total{route="none",method="GET",status="404"} 2',
    'admitted_total{plan="enterprise"} 60',
    'refused_total{plan="none",reason="malformed"} 1',
  ]) {
    expect(text).toContain(`rehome_${line}\n`);
  }
  expect(text).not.toMatch(/12345|secret|nonsense|rehome_live|127\.0\.0\.1/);
  expect(text).toMatch(/rehome_store_file_bytes\{file="rehome.db-wal"\} [1-9]/);
});

/** The rules without what they are called by and say. */
function rulesText(): string {
  return read("prometheus/rehome.rules.yml")
    .split("\n")
    .filter((line) => !/^\s*(?:#|- record|summary|description)/.test(line))
    .join("\n")
    .replaceAll("rehome:failures:ratio_rate5m", "");
}

test.each([
  ["the configuration", ["check", "config", "prometheus.yml"]],
  ["the rules", ["check", "rules", "rehome.rules.yml"]],
  ["what the rules do", ["test", "rules", "rehome.rules.test.yml"]],
])("promtool accepts %s", async (_what, args) => {
  const { exitCode, text } = await promtool(args);
  expect([text, exitCode]).toEqual([expect.stringContaining("SUCCESS"), 0]);
});

test("promtool accepts every expression of the dashboard", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "panels.json");
  const rules = expressions.map((expr, i) => ({ record: `panel:number${i}`, expr }));
  writeFileSync(file, JSON.stringify({ groups: [{ name: "panels", rules }] }));
  const { exitCode, text } = await promtool(["check", "rules", file]);
  expect([text, exitCode]).toEqual([
    expect.stringContaining(`${expressions.length} rules found`),
    0,
  ]);
});
