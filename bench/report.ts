// The tables, for the terminal and for RESULTS.md. Only what ran has figures.
import { type MemoryResult, rssGoalMiB, startGoalMs, type StartResult } from "./endurance.ts";
import type { Peer } from "./peer-store.ts";
import { type Figure, type Measured, type ScenarioResult, ratio } from "./stats.ts";

/** A measurement, or the reason there is none. */
export type OrReason<T> = T | { readonly reason: string };

export interface Environment {
  readonly machine: readonly string[];
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

/** A number with as many places as it needs to be told from its neighbours. */
export function number(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString("en");
  return value.toFixed(value >= 10 ? 1 : 2);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, i) =>
    Math.max(cell.length, 3, ...rows.map((row) => (row[i] ?? "").length)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${head
      .map((_, i) => cells[i] ?? "")
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join(" | ")} |`;
  const rule = `| ${widths.map((width, i) => (i === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")} |`;
  return [line(head), rule, ...rows.map(line)].join("\n");
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;

const columns: readonly (readonly [string, Figure])[] = [
  ["requests/s", "requestsPerSecond"],
  ["p50 ms", "p50Ms"],
  ["p99 ms", "p99Ms"],
  ["CPU µs", "cpuUs"],
  ["RSS MiB", "rssMiB"],
  ["written B", "writtenBytes"],
];

/** One scenario as a table: figures per request, and in brackets the ratio to the baseline. */
export function scenarioTable(result: ScenarioResult): string {
  const cell = (outcome: Measured, figure: Figure): string => {
    const value = number(outcome.median[figure]);
    if (outcome.target === result.baseline) return value;
    const relative = ratio(result, outcome.target, result.baseline, figure);
    return relative === undefined ? value : `${value} (${relative.median.toFixed(2)})`;
  };
  const rows = result.outcomes.map((outcome) => {
    if (!outcome.ran) return [outcome.target, "did not run"];
    const shares = [outcome.median.busy, outcome.median.others].map(percent);
    return [outcome.target, ...columns.map(([, figure]) => cell(outcome, figure)), ...shares];
  });
  const reasons = result.outcomes.flatMap((outcome) =>
    outcome.ran ? [] : [`\n- ${outcome.target} did not run: ${outcome.reason}`],
  );
  const head = ["", ...columns.map(([title]) => title), "core used", "by others"];
  return [table(head, rows), ...reasons].join("\n");
}

/**
 * The goals as a table: the ratio of requests a second that was reached (with the least and most of
 * the rounds), the same ratio by processor time, which a busy machine disturbs less, and what was
 * asked.
 */
export function goalTable(results: Results): string {
  const rows: string[][] = [];
  for (const result of results.scenarios) {
    for (const goal of result.goals) {
      const reached = ratio(result, goal.target, goal.against, "requestsPerSecond");
      const byCpu = ratio(result, goal.against, goal.target, "cpuUs");
      rows.push([
        `${result.name}: ${goal.target} / ${goal.against}`,
        reached === undefined ? "did not run" : reached.median.toFixed(2),
        reached === undefined ? "" : `${reached.least.toFixed(2)} to ${reached.most.toFixed(2)}`,
        byCpu?.median.toFixed(2) ?? "",
        `>= ${goal.atLeast}`,
        verdict(reached && reached.median >= goal.atLeast),
      ]);
    }
  }
  const { memory, start } = results;
  if (memory !== undefined) rows.push(memoryGoal(memory));
  if (start !== undefined) rows.push(startGoal(start));
  return table(["", "reached", "rounds", "by CPU", "goal", ""], rows);
}

const verdict = (met: boolean | undefined): string =>
  met === undefined ? "" : met ? "met" : "MISSED";

function memoryGoal(memory: OrReason<MemoryResult>): string[] {
  const what = "memory: RSS after a minute at full speed, MiB";
  const goal = `< ${rssGoalMiB}`;
  if ("reason" in memory) return [what, `did not run: ${memory.reason}`, "", "", goal, ""];
  const reached = memory.minutesMiB[0] as number;
  const met = memory.seconds >= 60 ? verdict(reached < rssGoalMiB) : "shorter than a minute";
  return [what, number(reached), `at most ${number(memory.mostMiB)}`, "", goal, met];
}

function startGoal(start: OrReason<StartResult>): string[] {
  const what = "start: exec to the first 200, ms";
  const goal = `< ${startGoalMs}`;
  if ("reason" in start) return [what, `did not run: ${start.reason}`, "", "", goal, ""];
  const range = `${number(start.leastMs)} to ${number(start.mostMs)}`;
  const met = verdict(start.medianMs < startGoalMs);
  return [what, number(start.medianMs), range, "", goal, met];
}

function memoryText(memory: OrReason<MemoryResult>): string {
  if ("reason" in memory) return `Did not run: ${memory.reason}.`;
  const minutes = memory.minutesMiB.map(number).join(", ");
  return `${memory.requests.toLocaleString("en")} requests of every kind in ${memory.seconds} s. RSS at rest ${number(memory.idleMiB)} MiB; at the end of each minute ${minutes} MiB; at most ${number(memory.mostMiB)} MiB. At the end ${number(memory.anonymousMiB)} MiB of it were the process's own, the rest the mapped executable.`;
}

const runtimes = {
  bun: "on Bun",
  node: "on Node",
  go: "compiled by Go",
  rust: "compiled by Rust",
} as const;

function peersList(peers: readonly Peer[], versions: Readonly<Record<string, string>>): string {
  const parts = peers.map((peer) => {
    const used = peer.packages.map((name) => `${name} ${versions[name] ?? "?"}`).join(", ");
    const items = peer.omits.map((what) => `- ${what}`).join("\n");
    return `**${peer.name}** (${used}, ${runtimes[peer.runtime]}):\n\n${items}`;
  });
  return parts.join("\n\n");
}

/** A round is disturbed when other programs took more than a tenth of one of its two cores. */
const disturbedShare = 0.1;

function quietness({ environment, scenarios }: Results): string {
  const rounds = scenarios.flatMap(({ outcomes }) =>
    outcomes.flatMap((o) => (o.ran ? o.rounds : [])),
  );
  const disturbed = rounds.filter((round) => round.others > disturbedShare).length;
  const load = `Load average before the first round: ${environment.loadBefore.toFixed(2)}.`;
  if (disturbed === 0) return `${load} No round was disturbed by other programs.`;
  return `${load} **Other programs took more than a tenth of a core in ${disturbed} of ${rounds.length} rounds. Do not rely on requests/s and latency.**`;
}

/** The whole report as Markdown. */
export function report(results: Results, peers: readonly Peer[]): string {
  const { environment: env, scenarios, memory } = results;
  const versions = Object.entries(env.versions).map(([name, version]) => `${name} ${version}`);
  const parts = [
    "# Results",
    `Written by \`${env.how}\` on ${env.date}, commit ${env.commit}. How to read this: [README.md](README.md).`,
    `${env.machine.join("; ")}.\n\n${versions.join(", ")}.`,
    quietness(results),
    "## Goals",
    goalTable(results),
    ...scenarios.flatMap((result) => [`## ${result.name}`, result.title, scenarioTable(result)]),
    ...(memory === undefined ? [] : ["## memory", memoryText(memory)]),
    "## What the peers do not do",
    peersList(peers, env.versions),
  ];
  return `${parts.join("\n\n")}\n`;
}
