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
  const power = bytes < 1 ? 0 : Math.min(4, Math.floor(Math.log2(bytes) / 10));
  const unit = ["bytes", "KiB", "MiB", "GiB", "TiB"][power];
  return `${power === 0 ? bytes : (bytes / 1_024 ** power).toFixed(1)} ${unit}`;
}
