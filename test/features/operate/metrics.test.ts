/** What Prometheus reads of the work of a server. */
import { expect, test } from "bun:test";
import { Metrics } from "../../../src/features/operate/metrics/metrics.ts";
import type { AnsweredRequest } from "../../../src/http/handler.ts";

/** The value of a metric, by its name and labels. */
const valueIn = (text: string, name: string) =>
  Number(
    text
      .split("\n")
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length),
  );

test("time is in seconds, and what is read is not counted twice", async () => {
  const metrics = new Metrics({ folder: undefined, droppedLogLines: () => 3 });
  const record = { route: "/v1/pets" } as AnsweredRequest["record"];
  metrics.answered({ record, method: "POST", status: 201, bytes: 1, durationMs: 30 });
  const { onCommit, onBusy, onBan } = metrics.storeObserver;
  onCommit?.({ batchSize: 4, commitMs: 20 });
  onBusy?.();
  onBan?.();
  await metrics.text();
  const { body } = await metrics.text();
  const values = {
    'rehome_requests_total{route="/v1/pets",method="POST",status="201"}': 1,
    'rehome_request_duration_seconds_sum{route="/v1/pets"}': 0.03,
    rehome_writer_batch_size_sum: 4,
    rehome_writer_commit_seconds_sum: 0.02,
    rehome_store_busy_total: 1,
    rehome_bans_total: 1,
    rehome_log_lines_dropped_total: 3,
  };
  for (const [name, value] of Object.entries(values)) {
    expect([name, valueIn(body, name)]).toEqual([name, value]);
  }
  const { user, system } = process.cpuUsage();
  expect(valueIn(body, "process_cpu_seconds_total")).toBeWithin(0.01, (user + system) / 1e6);
  expect(body).not.toContain("rehome_store_file_bytes{");
  metrics.close();
});
