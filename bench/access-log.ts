/**
 * What the access log costs a request, in processor time: the same application without and with it,
 * in turns. The address is measured apart, because there is no socket here: `bun
 * bench/access-log.ts`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../src/domain/clock.ts";
import { Logger } from "../src/service/log.ts";
import { testApp, type TestApp } from "../test/helpers/app.ts";
import { median } from "./stats.ts";

const rounds = 40;
const requestsPerRound = 6_400;
const atOnce = 64;

interface Side {
  readonly app: TestApp;
  readonly secret: string;
  readonly microseconds: number[];
}

async function side(path: string, level: "off" | "info"): Promise<Side> {
  const log = new Logger({
    path,
    level,
    format: "json",
    clock: systemClock,
    onProblem: () => undefined,
  });
  const app = await testApp({ app: { log } });
  const { secret } = await app.services.keys.create({
    name: "bench",
    plan: "enterprise",
    perMinute: 1_000_000_000,
    perDay: 1_000_000_000,
  });
  return { app, secret, microseconds: [] };
}

async function round({ app, secret }: Side): Promise<number> {
  const headers = { authorization: `Bearer ${secret}` };
  const before = process.cpuUsage();
  for (let sent = 0; sent < requestsPerRound; sent += atOnce) {
    await Promise.all(
      Array.from({ length: atOnce }, async () =>
        app.elysia.handle(new Request("http://localhost/v1/pets", { headers })),
      ),
    );
    await new Promise((resolve) => void setImmediate(resolve));
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requestsPerRound;
}

/** Nanoseconds that the system takes to say whose connection it is. */
async function addressCost(): Promise<number> {
  const turns = 20_000;
  let nanoseconds = 0;
  using server = Bun.serve({
    port: 0,
    fetch(request, serving) {
      const start = Bun.nanoseconds();
      for (let i = 0; i < turns; i += 1) serving.requestIP(request);
      nanoseconds = (Bun.nanoseconds() - start) / turns;
      return new Response();
    },
  });
  await fetch(server.url);
  return nanoseconds;
}

const folder = mkdtempSync(join(process.env["BENCH_DIR"] ?? tmpdir(), "rehome-log-"));
const without = await side(join(folder, "off"), "off");
const withLog = await side(join(folder, "on"), "info");
for (const each of [without, withLog]) await round(each);
for (let i = 0; i < rounds; i += 1) {
  for (const each of [without, withLog]) each.microseconds.push(await round(each));
}
const differences = withLog.microseconds.map((us, i) => us - (without.microseconds[i] ?? 0));
const text = (us: number) => `${us.toFixed(2)} µs`;
process.stdout
  .write(`a request without a log: ${text(median(without.microseconds))} of processor time
a line in a file:        ${text(median(differences))} more
a client's address:      ${text((await addressCost()) / 1_000)} more
`);
rmSync(folder, { recursive: true });
process.exit(0);
