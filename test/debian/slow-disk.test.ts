/**
 * A disk that takes 20 ms for each flush, as an SD card does, is felt by writers only, and they
 * share it.
 */
import { expect, test } from "bun:test";
import { Acknowledged } from "../helpers/acknowledged.ts";
import { makeKey, roomy, serve, temporaryFolder } from "../helpers/binary.ts";
import { load, portOf, quantile, requestText } from "../helpers/load.ts";

const flushDelayMs = 20;
/** Only these system calls are traced (seccomp), so that the others keep their speed. */
const slowDisk = [
  "strace",
  // In the background: signals go to the server itself.
  "--daemonize",
  "--follow-forks",
  "--seccomp-bpf",
  "--quiet=all",
  "--output=/dev/null",
  "--trace=fsync,fdatasync",
  `--inject=fsync,fdatasync:delay_exit=${flushDelayMs * 1000}`,
] as const;
const measuredMs = 4_000;

test(`with ${flushDelayMs} ms for each flush 32 clients share flushes, each create waits for one, and no list does`, async () => {
  using folder = temporaryFolder();
  const { key } = await makeKey(folder.path, ...roomy);
  await using server = await serve(folder.path, [], { command: slowDisk });
  const endMs = performance.now() + measuredMs;
  const isOver = () => performance.now() > endMs;
  const acknowledged = new Acknowledged();
  const [{ created, latenciesMs }, reading] = await Promise.all([
    acknowledged.create(server, key, 32, isOver),
    load({
      port: portOf(server.origin),
      clients: 1,
      keepAlive: true,
      pauseMs: 5,
      isOver,
      request: () => requestText("GET", "/v1/pets", key),
    }),
  ]);
  const perSecond = (created / measuredMs) * 1000;
  const p99Ms = quantile(reading.latenciesMs, 0.99);
  process.stderr.write(
    `slow disk: ${perSecond.toFixed(0)} creates/s, list p99 ${p99Ms.toFixed(1)} ms\n`,
  );
  // What was acknowledged waited for a flush that began after it came, or a power cut would lose
  // it.
  expect(Math.min(...latenciesMs)).toBeGreaterThanOrEqual(flushDelayMs);
  // A commit of its own for each would be under 50/s.
  expect(perSecond).toBeGreaterThan(200);
  // A list that waited for the flush under way would wait for half of it on average.
  expect(quantile(reading.latenciesMs, 0.5)).toBeLessThan(flushDelayMs / 2);
  await acknowledged.verify(server, key);
  expect(await server.stop()).toBe(0);
}, 120_000);
