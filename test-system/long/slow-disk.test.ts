/**
 * A disk that takes 20 ms for each flush, as an SD card does, is felt by writers only, and they
 * share it.
 */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Acknowledged } from "../../test/helpers/acknowledged.ts";
import { served, temporaryFolder } from "../../test/helpers/binary.ts";
import { load, portOf, requestText } from "../../test/helpers/load.ts";

const flushDelayMs = 20;
/** Only these system calls are traced (seccomp), so that the others keep their speed. */
const slowDisk = [
  "strace",
  // In the background: signals go to the server itself.
  "--daemonize",
  "--follow-forks",
  "--seccomp-bpf",
  "--quiet=all",
  "--trace=fsync,fdatasync",
  `--inject=fsync,fdatasync:delay_exit=${flushDelayMs * 1000}`,
] as const;
const measuredMs = 4_000;

test(`with ${flushDelayMs} ms for each flush 32 clients share flushes, each create waits for one, and no list does`, async () => {
  using traces = temporaryFolder();
  const trace = join(traces.path, "flushes");
  await using server = await served([], { command: [...slowDisk, `--output=${trace}`] });
  const { key } = server;
  const during = (ms: number) => {
    const endMs = performance.now() + ms;
    return () => performance.now() > endMs;
  };
  const lists = async (isOver: () => boolean) => {
    const request = () => requestText("GET", "/v1/pets", key);
    const port = portOf(server.origin);
    const options = { port, clients: 1, keepAlive: true, pauseMs: 5, isOver, request };
    return (await load(options)).latenciesMs;
  };
  const flushes = () => readFileSync(trace, "utf8").match(/\b(?:fsync|fdatasync)\(/g)?.length ?? 0;
  const flushesBefore = flushes();
  const isOver = during(measuredMs);
  const acknowledged = new Acknowledged();
  const [{ latenciesMs }, reading] = await Promise.all([
    acknowledged.create(server, key, 32, isOver),
    lists(isOver),
  ]);
  const count = flushes() - flushesBefore;
  const perFlush = acknowledged.created / count;
  // What was acknowledged waited for a flush that began after it came, or a power cut would lose
  // it.
  expect(Math.min(...latenciesMs)).toBeGreaterThanOrEqual(flushDelayMs);
  // A commit of its own for each would be one.
  expect(perFlush).toBeGreaterThan(4);
  // Of the lists that wait for the flush under way, one is served for each.
  expect(reading.length).toBeGreaterThan(1.3 * count);
  await acknowledged.verified(server, key);
  expect(await server.stop()).toBe(0);
});
