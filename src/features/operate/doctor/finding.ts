import type { AppError } from "../../../domain/errors.ts";

/** The result of a check: `warn` becomes a problem later, `fail` is a problem now. */
export const findingStates = ["ok", "warn", "fail"] as const;
type FindingState = (typeof findingStates)[number];

export interface Finding {
  readonly check: string;
  readonly state: FindingState;
  readonly detail: string;
  readonly advice: string | null;
}

export function ok(check: string, detail: string): Finding {
  return { check, state: "ok", detail, advice: null };
}

const finding =
  (state: FindingState) =>
  (check: string, detail: string, advice: string): Finding => ({ check, state, detail, advice });

export const warn = finding("warn");
export const fail = finding("fail");

/** A check that ended with an error; `advice` is for one that has no hint. */
export function failWith(check: string, error: AppError, advice: string): Finding {
  return fail(check, error.message.replace(/\.$/, ""), error.hint ?? advice);
}

/** Bytes as people read them: `1.5 GiB`. */
export function bytesText(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1_024 && unit < units.length - 1) {
    value /= 1_024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
