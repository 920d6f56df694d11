// One scenario: every target started, warmed up, and measured in interleaved rounds. A figure
// stands only if every response was what it must be; otherwise the target did not run, and the
// reason is kept.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Counted, type Request, runLoad } from "./load.ts";
import {
  DidNotRun,
  loadCore,
  serverCore,
  type Running,
  atRest,
  coreUs,
  cpuUsBetween,
  usage,
} from "./process.ts";
import { type Outcome, type Round, type ScenarioResult, medianRound } from "./stats.ts";

/** A refusal grows by a warning when its caller goes on; the bare server sends the first. */
const differenceMax = 0.1;
const requestTimeoutMs = 10_000;

/** A response of the service, which the bare server sends again. */
export interface Captured {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Context {
  /** An empty folder of the target's own. */
  readonly folder: string;
  /** What the first target that ran sent for the scenario's first request. */
  readonly reference: Captured | undefined;
}

export interface Target {
  readonly name: string;
  readonly start: (context: Context) => Promise<Running>;
  /** It must send as many bytes as the reference, give or take `differenceMax`. */
  readonly sendsTheSameBytes?: boolean;
}

export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly connections: number;
  /** The status that every response must have; the creates of a mixed load have 201. */
  readonly status: number;
  readonly targets: readonly Target[];
  /** What is sent to a target in a round, from 1; 0 is the warm-up. */
  readonly requests: (
    round: number,
    target: string,
  ) => readonly Request[] | Promise<readonly Request[]>;
  /** Done before each round, with the load not yet running. */
  readonly arrange?: (port: number, round: number, seconds: number) => Promise<void>;
  /** The responses carry ids that count up: as many as requests must have been given out. */
  readonly creates?: boolean;
}

export interface Plan {
  readonly rounds: number;
  readonly seconds: number;
  readonly warmupSeconds: number;
  readonly folder: string;
  readonly say: (text: string) => void;
}

interface Live {
  readonly target: Target;
  readonly server: Running;
  readonly rounds: Round[];
}

/** Written by the server itself for every response, in the bare one as in the real one. */
const sentByBun = ["date", "content-length", "connection", "keep-alive", "transfer-encoding"];

/** Sends one request and returns the whole response. Throws DidNotRun when there is none. */
export async function ask(port: number, request: Request): Promise<Captured> {
  const response = await fetch(`http://127.0.0.1:${port}${request.path}`, {
    method: request.method,
    headers: { ...request.headers },
    ...(request.body === undefined ? {} : { body: request.body }),
    signal: AbortSignal.timeout(requestTimeoutMs),
  }).catch((error: unknown) => {
    throw new DidNotRun(`no response: ${String(error)}`);
  });
  const headers = [...response.headers].filter(([name]) => !sentByBun.includes(name));
  const body = await response.text();
  return { status: response.status, headers: Object.fromEntries(headers), body };
}

async function askFor(port: number, request: Request, status: number): Promise<Captured> {
  const response = await ask(port, request);
  if (response.status === status) return response;
  const what = `${request.method} ${request.path}`;
  const found = `${response.status}, not ${status}: ${response.body.slice(0, 120)}`;
  throw new DidNotRun(`${what} returned ${found}`);
}

/** Measures a scenario. Never throws for a target: what failed is in the outcome. */
export async function measure(scenario: Scenario, plan: Plan): Promise<ScenarioResult> {
  const live: Live[] = [];
  const failed = new Map<string, string>();
  const attempt = async (target: Target, work: () => Promise<void>): Promise<void> => {
    if (failed.has(target.name)) return;
    try {
      await work();
    } catch (error) {
      if (!(error instanceof DidNotRun)) throw error;
      failed.set(target.name, error.message);
    }
  };
  let reference: Captured | undefined;
  try {
    for (const target of scenario.targets) {
      const folder = join(plan.folder, scenario.name, target.name.replaceAll(/[^a-z0-9]+/gi, "-"));
      mkdirSync(folder, { recursive: true });
      await attempt(target, async () => {
        const server = await target.start({ folder, reference });
        live.push({ target, server, rounds: [] });
        reference ??= await firstResponse(scenario, target, server);
      });
    }
    for (let round = 0; round <= plan.rounds; round++) {
      for (let i = 0; i < live.length; i++) {
        const one = live[(i + round) % live.length] as Live;
        await attempt(one.target, async () => {
          const measured = await oneRound(scenario, one, round, plan);
          if (round > 0) one.rounds.push(measured);
        });
      }
      plan.say(round === 0 ? "warm" : ` ${round}`);
    }
  } finally {
    await Promise.all(live.map((one) => one.server.stop()));
  }
  return judged(scenario, live, failed);
}

async function firstResponse(scenario: Scenario, target: Target, server: Running) {
  await scenario.arrange?.(server.port, 0, 0);
  const [first] = await scenario.requests(0, target.name);
  return await askFor(server.port, first as Request, scenario.status);
}

async function oneRound(scenario: Scenario, live: Live, round: number, plan: Plan): Promise<Round> {
  const { pid, port } = live.server;
  const requests = await scenario.requests(round, live.target.name);
  const first = requests[0] as Request;
  const seconds = round === 0 ? plan.warmupSeconds : plan.seconds;
  await scenario.arrange?.(port, round, seconds);
  const idBefore = await askFor(port, first, scenario.status);
  const before = await atRest(pid);
  const { connections } = scenario;
  const begin = performance.now();
  const own = process.cpuUsage();
  const coresBefore = [serverCore, loadCore].map(coreUs);
  const counted = await runLoad({ port, connections, seconds, requests });
  const wallUs = (performance.now() - begin) * 1000;
  const coresAtEnd = [serverCore, loadCore].map(coreUs);
  const { user, system } = process.cpuUsage(own);
  const atEnd = usage(pid);
  const ownUs = [cpuUsBetween(before, atEnd), user + system];
  const othersUs = ownUs.map((us, i) => (coresAtEnd[i] ?? 0) - (coresBefore[i] ?? 0) - us);
  const after = await atRest(pid);
  checkStatuses(scenario, requests, counted);
  if (scenario.creates) {
    checkIds(idBefore, await askFor(port, first, scenario.status), counted.requests);
  }
  return {
    requestsPerSecond: counted.requests / counted.seconds,
    p50Ms: counted.p50Ms,
    p99Ms: counted.p99Ms,
    cpuUs: cpuUsBetween(before, after) / counted.requests,
    rssMiB: atEnd.rssMiB,
    writtenBytes: (after.writtenBytes - before.writtenBytes) / counted.requests,
    responseBytes: counted.bytes / counted.requests,
    busy: (ownUs[0] ?? 0) / wallUs,
    others: Math.max(0, ...othersUs) / wallUs,
  };
}

function checkStatuses(
  { status }: Scenario,
  requests: readonly Request[],
  { requests: total, statuses }: Counted,
): void {
  if (total === 0) throw new DidNotRun("not one request was answered");
  const expected = [status];
  // A mixed load creates too.
  if (status === 200 && requests.some(({ method }) => method === "POST")) expected.push(201);
  const right = expected.reduce((sum, each) => sum + (statuses[each] ?? 0), 0);
  if (right < total) {
    throw new DidNotRun(`${total - right} of ${total} responses were not ${expected.join(", ")}`);
  }
}

function checkIds(before: Captured, after: Captured, requests: number): void {
  const id = ({ body }: Captured): number => (JSON.parse(body) as { id: number }).id;
  const given = id(after) - id(before) - 1;
  if (given < requests) throw new DidNotRun(`${requests} creates answered, ${given} ids given out`);
}

function judged(
  { name, title, targets }: Scenario,
  live: readonly Live[],
  failed: ReadonlyMap<string, string>,
): ScenarioResult {
  const outcomes = targets.map((target): Outcome => {
    const one = live.find((candidate) => candidate.target === target);
    const reason = failed.get(target.name);
    if (one === undefined || reason !== undefined) {
      return { target: target.name, ran: false, reason: reason ?? "not started" };
    }
    const { rounds } = one;
    return { target: target.name, ran: true, rounds, median: medianRound(rounds) };
  });
  const reference = outcomes.find((outcome) => outcome.ran);
  const checked = outcomes.map((outcome, i): Outcome => {
    if (!outcome.ran || !reference?.ran || !targets[i]?.sendsTheSameBytes) return outcome;
    const [own, real] = [outcome.median.responseBytes, reference.median.responseBytes];
    if (Math.abs(own - real) <= real * differenceMax) return outcome;
    const reason = `it sent ${own.toFixed(0)} bytes a response where ${reference.target} sent ${real.toFixed(0)}`;
    return { target: outcome.target, ran: false, reason };
  });
  return { name, title, outcomes: checked };
}
