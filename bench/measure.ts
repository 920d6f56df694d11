// One scenario: every target started, warmed up, and measured in interleaved rounds. A figure
// stands only if every answer was what it must be; otherwise the target did not run, and the reason
// is kept.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Captured, askFor } from "./capture.ts";
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
import { type Goal, type Outcome, type Round, type ScenarioResult, medianRound } from "./stats.ts";
import { type Counted, type Request, runLoad } from "./wrk.ts";

/** A refusal grows by a warning when its caller goes on; the bare server sends the first. */
const differenceMax = 0.1;

export interface Context {
  /** An empty folder of the target's own. */
  readonly folder: string;
  /** The real answer: what the first target that ran sent for the scenario's first request. */
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
  /** The status every answer must have. */
  readonly status: number;
  readonly baseline: string;
  readonly goals?: readonly Goal[];
  readonly targets: readonly Target[];
  /** What is sent to a target in a round, from 1; 0 is the warm-up. */
  readonly requests: (
    round: number,
    target: string,
  ) => readonly Request[] | Promise<readonly Request[]>;
  /** Done before each round, with the load not yet running. */
  readonly arrange?: (port: number, round: number, seconds: number) => Promise<void>;
  /** The answers carry ids that count up: at least as many as requests must have been given out. */
  readonly creates?: boolean;
  /** No round of this scenario is longer, in seconds (keys are used up). */
  readonly atMostSeconds?: number;
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
        reference ??= await firstAnswer(scenario, target, server);
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

async function firstAnswer(scenario: Scenario, target: Target, server: Running): Promise<Captured> {
  await scenario.arrange?.(server.port, 0, 0);
  const [first] = await scenario.requests(0, target.name);
  return await askFor(server.port, first as Request, scenario.status);
}

async function oneRound(scenario: Scenario, live: Live, round: number, plan: Plan): Promise<Round> {
  const { pid, port } = live.server;
  const requests = await scenario.requests(round, live.target.name);
  const first = requests[0] as Request;
  const seconds = Math.min(
    round === 0 ? plan.warmupSeconds : plan.seconds,
    scenario.atMostSeconds ?? Number.POSITIVE_INFINITY,
  );
  await scenario.arrange?.(port, round, seconds);
  const answerBefore = await askFor(port, first, scenario.status);
  const before = await atRest(pid);
  const { connections } = scenario;
  const begin = performance.now();
  const coresBefore = [serverCore, loadCore].map(coreUs);
  const counted = await runLoad({ port, connections, seconds, requests, folder: plan.folder });
  // wrk's own start and end are in it, which its count of seconds leaves out.
  const wallUs = (performance.now() - begin) * 1000;
  const coresAtEnd = [serverCore, loadCore].map(coreUs);
  const atEnd = usage(pid);
  const ownUs = [cpuUsBetween(before, atEnd), counted.cpuUs];
  const othersUs = ownUs.map((own, i) => (coresAtEnd[i] ?? 0) - (coresBefore[i] ?? 0) - own);
  const after = await atRest(pid);
  const answerAfter = await askFor(port, first, scenario.status);
  checkCounts(scenario, counted);
  if (scenario.creates) checkIds(answerBefore, answerAfter, counted.requests);
  return {
    requestsPerSecond: counted.requests / counted.seconds,
    p50Ms: counted.p50Ms,
    p99Ms: counted.p99Ms,
    cpuUs: cpuUsBetween(before, after) / counted.requests,
    rssMiB: atEnd.rssMiB,
    writtenBytes: (after.writtenBytes - before.writtenBytes) / counted.requests,
    answerBytes: counted.bytes / counted.requests,
    busy: (ownUs[0] ?? 0) / 1e6 / counted.seconds,
    others: Math.max(0, ...othersUs) / wallUs,
  };
}

function checkCounts(scenario: Scenario, counted: Counted): void {
  if (counted.requests === 0) throw new DidNotRun("not one request was answered");
  if (counted.socketErrors > 0) throw new DidNotRun(`${counted.socketErrors} socket errors`);
  const wrong = scenario.status >= 400 ? counted.requests - counted.refused : counted.refused;
  if (wrong > 0) {
    throw new DidNotRun(`${wrong} of ${counted.requests} answers were not ${scenario.status}`);
  }
}

function checkIds(before: Captured, after: Captured, requests: number): void {
  const id = (answer: Captured): number => (JSON.parse(answer.body) as { id: number }).id;
  const given = id(after) - id(before) - 1;
  if (given < requests) throw new DidNotRun(`${requests} creates answered, ${given} ids given out`);
}

function judged(
  scenario: Scenario,
  live: readonly Live[],
  failed: ReadonlyMap<string, string>,
): ScenarioResult {
  const outcomes = scenario.targets.map((target): Outcome => {
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
    if (!outcome.ran || !reference?.ran || !scenario.targets[i]?.sendsTheSameBytes) return outcome;
    const [own, real] = [outcome.median.answerBytes, reference.median.answerBytes];
    if (Math.abs(own - real) <= real * differenceMax) return outcome;
    const reason = `it sent ${own.toFixed(0)} bytes an answer where ${reference.target} sent ${real.toFixed(0)}`;
    return { target: outcome.target, ran: false, reason };
  });
  const { name, title, baseline, goals = [] } = scenario;
  return { name, title, baseline, goals, outcomes: checked };
}
