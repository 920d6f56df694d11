/**
 * `bun run soak [MINUTES]`: kills, stops, stalls, locks, backups and full disks in a
 * loop, under load, on 127.0.0.1 and on a folder of its own. After each round every animal that was
 * ever answered with 201 must be there with its exact content. Prints what it tried; ends with 1
 * when anything was lost.
 *
 * `bun run soak [MINUTES] --kills N [--store postgres] [--seed N]`: kills only, see kills.ts,
 * until there are N of them with those of earlier runs, or the minutes are over.
 */
import { Database } from "bun:sqlite";
import { connect } from "node:net";
import { join } from "node:path";
import { Acknowledged } from "../../test/helpers/acknowledged.ts";
import {
  makeKey,
  perDay,
  rehome,
  serve,
  temporaryFolder,
  type RunningBinary,
} from "../../test/helpers/binary.ts";
import { fill, smallDisk } from "../../test/helpers/small-disk.ts";
import { portOf, requestText } from "../../test/helpers/load.ts";
import { argumentsOf, misused } from "../../scripts/arguments.ts";
import { sentence, soakKills } from "./kills.ts";
import { killsOf } from "./life.ts";

const { values, positionals } = argumentsOf({
  allowPositionals: true,
  options: {
    kills: { type: "string" },
    store: { type: "string", default: "sqlite" },
    seed: { type: "string" },
  },
});

function number(what: string, text: string): number {
  const value = Number(text);
  return value > 0 ? value : misused(`${what} must be a number above 0, not "${text}"`);
}

const minutes = number("the minutes", positionals[0] ?? (values.kills === undefined ? "2" : "60"));
const clients = 32;
const say = (text: string) => void process.stdout.write(`${text}\n`);

interface Round {
  readonly folder: string;
  readonly key: string;
  readonly server: RunningBinary;
}

/** Ends the server in one of its ways, and returns one that goes on in its place. */
type Fault = (round: Round) => Promise<RunningBinary>;

const veryRoomy = perDay(1_000_000_000);
const options = ["--shutdown-timeout", "2"];

async function expectExit(server: RunningBinary, signal: NodeJS.Signals, code: number) {
  const exitCode = await server.stop(signal);
  if (exitCode !== code) throw new Error(`${signal} ended with ${exitCode}:\n${server.stderr()}`);
}

const faultsByName: Readonly<Record<string, Fault>> = {
  async kill({ folder, server }) {
    await server.stop("SIGKILL");
    return serve(folder, options);
  },
  async stop({ folder, server }) {
    await expectExit(server, "SIGTERM", 0);
    return serve(folder, options);
  },
  async "kill while stopping"({ folder, server }) {
    process.kill(server.pid, "SIGTERM");
    await Bun.sleep(20);
    await server.stop("SIGKILL");
    return serve(folder, options);
  },
  async "stall and stop"({ folder, server, key }) {
    const text = requestText("POST", "/v1/pets", key, '{"name":"stalled","categoryId":1}');
    for (let count = 0; count < 100; count += 1) {
      const socket = connect({ port: portOf(server.origin), host: "127.0.0.1" });
      socket.on("error", () => undefined);
      socket.write(text.slice(0, 1 + ((count * 7) % (text.length - 1))));
    }
    await Bun.sleep(200);
    await expectExit(server, "SIGTERM", 0);
    return serve(folder, options);
  },
  async "lock and kill"({ folder, server }) {
    const db = new Database(join(folder, "rehome.db"));
    db.run("PRAGMA busy_timeout = 5000");
    db.run("BEGIN IMMEDIATE");
    await Bun.sleep(500);
    await server.stop("SIGKILL");
    db.run("ROLLBACK");
    db.close();
    return serve(folder, options);
  },
  async "back up and kill"({ folder, server }) {
    using backups = temporaryFolder();
    const made = await rehome(["backup", join(backups.path, "b.db"), "--data", folder, "--json"]);
    if (made.exitCode !== 0) throw new Error(made.stderr);
    await server.stop("SIGKILL");
    return serve(folder, options);
  },
};

const faults = Object.entries(faultsByName);

/** Bodies that drip in keep a connection for no longer than the server's 30 s. */
async function slowBody(server: RunningBinary, key: string): Promise<string> {
  const startMs = performance.now();
  const socket = connect({ port: portOf(server.origin), host: "127.0.0.1" });
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on("error", () => undefined);
  socket.on("close", () => resolve());
  const text = requestText("POST", "/v1/pets", key, "x".repeat(60_000));
  socket.write(text.slice(0, 200));
  const timer = setInterval(() => socket.write("x"), 500);
  await promise;
  clearInterval(timer);
  const seconds = (performance.now() - startMs) / 1000;
  if (seconds < 5 || seconds > 45) throw new Error(`a slow body was cut off after ${seconds} s`);
  return `a body that drips in is cut off after ${seconds.toFixed(0)} s`;
}

/** Fills a disk under load, ends the server meanwhile, and sees what is there afterwards. */
async function fullDisk(rounds: number): Promise<void> {
  using disk = smallDisk(64);
  if (disk === undefined) {
    say("not tried: a full disk needs the right to mount one");
    return;
  }
  const data = join(disk.path, "data");
  const { key } = await makeKey(data, ...veryRoomy);
  const acknowledged = new Acknowledged();
  for (let round = 0; round < rounds; round += 1) {
    const server = await serve(data, options);
    let isOver = false;
    const creating = acknowledged.create(server, key, clients, () => isOver);
    await Bun.sleep(200);
    const ballast = fill(disk.path);
    await Bun.sleep(500);
    const isKilled = round % 2 === 0;
    if (isKilled) await server.stop("SIGKILL");
    ballast[Symbol.dispose]();
    if (!isKilled) {
      await Bun.sleep(300);
      await expectExit(server, "SIGTERM", 0);
    }
    isOver = true;
    const { statuses } = await creating;
    await using again = await serve(data, options);
    const stored = await acknowledged.verify(again, key);
    await expectExit(again, "SIGTERM", 0);
    say(
      `full disk ${round + 1}: ${statuses.get(503) ?? 0} refused, ${acknowledged.animals.size} acknowledged, ${stored} stored, none lost`,
    );
  }
}

async function soak(): Promise<void> {
  using folder = temporaryFolder();
  const { key } = await makeKey(folder.path, ...veryRoomy);
  const acknowledged = new Acknowledged();
  const tried = new Map<string, number>();
  const refused = new Map<number, number>();
  let server = await serve(folder.path, options);
  say(await slowBody(server, key));
  const endMs = performance.now() + minutes * 60_000;
  for (let round = 0; performance.now() < endMs; round += 1) {
    const [name, fault] = faults[round % faults.length] as (typeof faults)[number];
    let isOver = false;
    const creating = acknowledged.create(server, key, clients, () => isOver);
    await Bun.sleep(100 + ((round * 97) % 400));
    server = await fault({ folder: folder.path, key, server });
    isOver = true;
    for (const [status, count] of (await creating).statuses) {
      refused.set(status, (refused.get(status) ?? 0) + count);
    }
    const stored = await acknowledged.verify(server, key);
    tried.set(name, (tried.get(name) ?? 0) + 1);
    say(
      `${round + 1}. ${name}: ${acknowledged.animals.size} acknowledged, ${stored} stored, none lost`,
    );
  }
  await expectExit(server, "SIGTERM", 0);
  await fullDisk(4);
  say(`tried: ${[...tried].map(([name, count]) => `${name} ${count}`).join(", ")}`);
  say(`answers: ${[...refused].map(([status, count]) => `${status} ${count}`).join(", ")}`);
  say(`nothing was lost: ${acknowledged.animals.size} animals acknowledged, all there`);
}

async function kills(count: number): Promise<void> {
  const { store } = values;
  if (store !== "sqlite" && store !== "postgres") misused("--store is sqlite or postgres");
  const runs = await soakKills({
    store,
    kills: count,
    minutes,
    seed: number("--seed", values.seed ?? `${Date.now() % 2 ** 31}`),
    file: join(import.meta.dir, "../../dist", `soak-${store}.json`),
    say,
  });
  const total = runs.reduce((sum, run) => sum + killsOf(run), 0);
  say(`\n${store}: ${total} kills in ${runs.length} runs, nothing lost`);
  for (const run of runs) say(`- ${run.began}, ${run.minutes} minutes: ${sentence(run)}`);
}

if (values.kills === undefined) await soak();
else await kills(number("--kills", values.kills));
