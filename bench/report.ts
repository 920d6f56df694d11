// RESULTS.md: what helps somebody decide comes first. Only what ran has figures.
import { readFileSync } from "node:fs";
import { cpus, loadavg, release, totalmem } from "node:os";
import type { MemoryResult, StartResult } from "./endurance.ts";
import { omitted, peerName, peerVersions } from "./peers.ts";
import { run } from "./process.ts";
import { root } from "./rehome.ts";
import { serviceName } from "./scenarios.ts";
import { type Figure, type ScenarioResult, ratio } from "./stats.ts";
import { oneCommitName } from "./yardsticks.ts";

/** A measurement, or the reason there is none. */
export type OrReason<T> = T | { readonly reason: string };

export interface Environment {
  readonly machine: readonly string[];
  readonly disk: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly commit: string;
  readonly date: string;
  readonly how: string;
  /** The load average before the first round: what else the machine did. */
  readonly loadBefore: number;
}

export interface Results {
  readonly environment: Environment;
  readonly scenarios: readonly ScenarioResult[];
  readonly memory?: OrReason<MemoryResult>;
  readonly start?: OrReason<StartResult>;
}

/** What the figures promise: docs and README repeat nothing else. */
const promised = {
  timesThePeer: [
    ["list", 2.5],
    ["get", 1.2],
    ["401", 1.2],
    ["429", 1.2],
  ],
  timesACommitEach: 2,
  flat: 0.9,
  idleMiB: 64,
  loadedMiB: 110,
  startMs: 100,
} as const;

async function said(command: readonly string[]): Promise<string> {
  return (await run(command, root).catch(() => "unknown")).trim();
}

/** Describes the machine, the versions and the commit; `folder` is where the stores lie. */
export async function environment(folder: string, how: string): Promise<Environment> {
  const [fileSystem, node, commit, changes, device, peers] = await Promise.all([
    said(["stat", "-f", "-c", "%T", folder]),
    said(["node", "--version"]),
    said(["git", "rev-parse", "--short", "HEAD"]),
    said(["git", "status", "--porcelain", "--untracked-files=no"]),
    said(["df", "--output=source", folder]),
    peerVersions(),
  ]);
  const packages = JSON.parse(readFileSync(`${root}/package.json`, "utf8")) as {
    dependencies: Record<string, string>;
  };
  const { elysia = "?", "drizzle-orm": drizzle = "?" } = packages.dependencies;
  return {
    machine: [
      `${cpus()[0]?.model.trim() || "unknown processor"}, ${cpus().length} cores`,
      `${(totalmem() / 2 ** 30).toFixed(0)} GiB of memory`,
      `Linux ${release()}`,
    ],
    disk: `${fileSystem} on ${device.split("\n").at(-1) ?? "?"}`,
    versions: { bun: Bun.version, node: node.slice(1), elysia, "drizzle-orm": drizzle, ...peers },
    commit: changes === "" ? commit : `${commit} with uncommitted changes`,
    date: `${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC`,
    how,
    loadBefore: loadavg()[0] ?? 0,
  };
}

/** A number with as many places as it needs to be told from its neighbours. */
export function number(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString("en");
  return value.toFixed(value >= 10 ? 1 : 2);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${head.map((_, i) => cells[i] ?? "").join(" | ")} |`;
  return [line(head), `| --- |${" ---: |".repeat(head.length - 1)}`, ...rows.map(line)].join("\n");
}

const find = ({ scenarios }: Results, name: string): ScenarioResult | undefined =>
  scenarios.find((result) => result.name === name);

function figureOf(result: ScenarioResult | undefined, target: string, figure: Figure) {
  const outcome = result?.outcomes.find((each) => each.target === target);
  return outcome?.ran ? outcome.median[figure] : undefined;
}

/** One promise: what it says, what was reached, and whether that holds. */
type Promised = readonly [what: string, reached: string, promise: string, verdict: string];

const verdict = (isMet: boolean | undefined): string =>
  isMet === undefined ? "did not run" : isMet ? "kept" : "MISSED";

function times(
  what: string,
  result: ScenarioResult,
  other: string,
  least: number,
  target = serviceName,
): Promised {
  const reached = ratio(result, target, other, "requestsPerSecond");
  const shown =
    reached && `${number(reached.median)} (${number(reached.least)} to ${number(reached.most)})`;
  return [what, shown ?? "", `>= ${least}`, verdict(reached && reached.median >= least)];
}

function promises(results: Results): Promised[] {
  const rows: Promised[] = [];
  for (const [name, least] of promised.timesThePeer) {
    const result = find(results, name);
    if (result?.outcomes.some(({ target }) => target === peerName)) {
      rows.push(times(`${name}, times ${peerName}`, result, peerName, least));
    }
  }
  for (const name of ["create-64", "create-256"]) {
    const result = find(results, name);
    if (result === undefined) continue;
    const what = `${name}, times ${oneCommitName} (${results.environment.disk})`;
    rows.push(times(what, result, oneCommitName, promised.timesACommitEach));
  }
  for (const result of results.scenarios.filter(({ name }) => name.startsWith("flat-"))) {
    const [large, small] = result.outcomes.map(({ target }) => target);
    if (large === undefined || small === undefined) continue;
    rows.push(times(`${result.title}: ${large} / ${small}`, result, small, promised.flat, large));
  }
  return [...rows, ...memoryPromises(results), ...startPromise(results)];
}

function memoryPromises({ memory }: Results): Promised[] {
  if (memory === undefined) return [];
  const names = ["memory at rest, MiB", "memory after a minute at full speed, MiB"];
  const bounds = [promised.idleMiB, promised.loadedMiB];
  const reached = "reason" in memory ? [] : [memory.idleMiB, memory.minutesMiB[0]];
  return names.map((name, i) => {
    const [value, most] = [reached[i], bounds[i] ?? 0];
    const isMet = value === undefined ? undefined : value <= most;
    return [name, value === undefined ? "" : number(value), `<= ${most}`, verdict(isMet)];
  });
}

function startPromise({ start }: Results): Promised[] {
  if (start === undefined) return [];
  const what = "exec to the first 200, ms";
  const bound = `<= ${promised.startMs}`;
  if ("reason" in start) return [[what, "", bound, verdict(undefined)]];
  const range = `${number(start.medianMs)} (${number(start.leastMs)} to ${number(start.mostMs)})`;
  return [[what, range, bound, verdict(start.medianMs <= promised.startMs)]];
}

/** The promises as a table. */
export const promiseTable = (results: Results): string =>
  table(["", "reached (rounds)", "promised", ""], promises(results));

/** One line that somebody can put beside another machine's. */
export function oneLine(results: Results): string {
  const { environment: env, memory, start } = results;
  const of = (name: string): string[] => {
    const [speed, cpuUs] = (["requestsPerSecond", "cpuUs"] as const).map((figure) =>
      figureOf(find(results, name), serviceName, figure),
    );
    if (speed === undefined || cpuUs === undefined) return [];
    return [`${name} ${number(speed)}/s ${number(cpuUs)} µs`];
  };
  const parts = [
    `rehome ${env.commit}`,
    env.machine.join(", "),
    env.disk,
    ...["list", "get", "401", "429", "create-64"].flatMap(of),
    ...(memory === undefined || "reason" in memory ? [] : [`rest ${number(memory.idleMiB)} MiB`]),
    ...(start === undefined || "reason" in start ? [] : [`start ${number(start.medianMs)} ms`]),
  ];
  return parts.join(" | ");
}

const matrixTargets = [serviceName, oneCommitName, peerName] as const;

/** One figure of every target in every scenario that has the peer. */
function matrix(results: Results, figure: Figure): string {
  const rows = results.scenarios.filter(({ name }) => !name.startsWith("flat-"));
  const targets = matrixTargets.filter((target) =>
    rows.some(({ outcomes }) => outcomes.some((outcome) => outcome.target === target)),
  );
  const cells = rows.map((result) => [
    result.name,
    ...targets.map((target) => {
      const value = figureOf(result, target, figure);
      return value === undefined ? "" : number(value);
    }),
  ]);
  return rows.length === 0 ? "Not measured." : table(["", ...targets], cells);
}

function memoryText({ memory }: Results): string {
  if (memory === undefined) return "Not measured.";
  if ("reason" in memory) return `Did not run: ${memory.reason}.`;
  const { requests, seconds, minutesMiB, mostMiB, afterMiB, idleMiB } = memory;
  return `${requests.toLocaleString("en")} requests of every kind in ${seconds} s. Resident memory in MiB: at rest ${number(idleMiB)}; at the end of each minute ${minutesMiB.map(number).join(", ")}; at most ${number(mostMiB)}; 30 s after the load ${number(afterMiB)}.`;
}

/** A round is disturbed when other programs took more than a tenth of one of its two cores. */
const disturbedShare = 0.1;

function quietness({ environment: env, scenarios }: Results): string {
  const rounds = scenarios.flatMap(({ outcomes }) =>
    outcomes.flatMap((outcome) => (outcome.ran ? outcome.rounds : [])),
  );
  const disturbed = rounds.filter(({ others }) => others > disturbedShare).length;
  const load = `Load average before the first round: ${env.loadBefore.toFixed(2)}.`;
  if (disturbed === 0) return `${load} No round was disturbed by other programs.`;
  return `${load} **Other programs took more than a tenth of a core in ${disturbed} of ${rounds.length} rounds. Do not rely on requests per second and latency.**`;
}

function notRun({ scenarios }: Results): string {
  const names = new Map<string, string[]>();
  for (const { name, outcomes } of scenarios) {
    for (const outcome of outcomes) {
      if (outcome.ran) continue;
      const why = `${outcome.target} did not run: ${outcome.reason}`;
      names.set(why, [...(names.get(why) ?? []), name]);
    }
  }
  return [...names].map(([why, where]) => `- ${where.join(", ")}: ${why}`).join("\n");
}

function peerText({ versions }: Environment): string {
  const used = ["hono", "hono-rate-limiter", "@hono/zod-validator", "zod"];
  return `**${peerName}** (${used.map((each) => `${each} ${versions[each] ?? "?"}`).join(", ")}): ${omitted}`;
}

/** The whole report as Markdown. */
export function report(results: Results): string {
  const { environment: env } = results;
  const { bun, node, elysia, "drizzle-orm": drizzle } = env.versions;
  const parts = [
    "# Results",
    `Written by \`${env.how}\` on ${env.date}, commit ${env.commit}. [README.md](README.md) says how to read it.`,
    `${env.machine.join("; ")}; stores on ${env.disk}. Bun ${bun}, Node ${node}, elysia ${elysia}, drizzle-orm ${drizzle}. The server runs on core 0, the load on core 1.`,
    quietness(results),
    "## What is promised",
    promiseTable(results),
    "One line, to compare with another machine:",
    `\`\`\`\n${oneLine(results)}\n\`\`\``,
    "## Requests per second",
    matrix(results, "requestsPerSecond"),
    notRun(results),
    "## Processor time of a request, µs",
    matrix(results, "cpuUs"),
    "## Latency at that load, p99 in ms",
    matrix(results, "p99Ms"),
    "## Resident memory at the end of a round, MiB",
    matrix(results, "rssMiB"),
    "## Memory over time",
    memoryText(results),
    "## What the peer leaves out",
    peerText(env),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}
