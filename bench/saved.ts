// What a change did: this run beside a saved one. The bare server is the control: when it moved as
// much as the service did, the machine moved and not the service.
import { type Results, number } from "./report.ts";
import { type ScenarioResult, ratio } from "./stats.ts";

interface Reading {
  readonly ratio: number;
  readonly cpuUs: number;
  readonly rssMiB: number;
}

function reading(result: ScenarioResult, target: string): Reading | undefined {
  const outcome = result.outcomes.find((candidate) => candidate.target === target);
  const relative = ratio(result, target, result.baseline, "requestsPerSecond");
  if (!outcome?.ran || relative === undefined) return undefined;
  return { ratio: relative.median, ...outcome.median };
}

const change = (before: number, after: number): string => {
  const percent = (after / before - 1) * 100;
  return `${percent >= 0 ? "+" : ""}${percent.toFixed(1)} %`;
};

/** A line for each scenario's first target in both runs. Scenarios of one run are named. */
export function comparison(before: Results, after: Results): string {
  const lines = [
    `compared with ${before.environment.commit} of ${before.environment.date} (${before.environment.how})`,
  ];
  for (const result of after.scenarios) {
    const target = result.outcomes.find((outcome) => outcome.target !== result.baseline)?.target;
    const old = before.scenarios.find((candidate) => candidate.name === result.name);
    const [was, is] = [old, result].map((side) =>
      side === undefined || target === undefined ? undefined : reading(side, target),
    );
    if (was === undefined || is === undefined) {
      lines.push(`${result.name.padEnd(16)} not in both runs`);
      continue;
    }
    const parts = [
      `ratio ${was.ratio.toFixed(2)} -> ${is.ratio.toFixed(2)} (${change(was.ratio, is.ratio)})`,
      `CPU ${number(was.cpuUs)} -> ${number(is.cpuUs)} µs (${change(was.cpuUs, is.cpuUs)})`,
      `RSS ${number(was.rssMiB)} -> ${number(is.rssMiB)} MiB`,
    ];
    lines.push(`${result.name.padEnd(16)} ${parts.join("   ")}`);
  }
  return lines.join("\n");
}
