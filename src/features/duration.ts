import { dayMs, hourMs, minuteMs } from "../domain/clock.ts";

const unitsMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: minuteMs,
  h: hourMs,
  d: dayMs,
};
/** A hundred years. A longer duration is a typing error. */
const durationMaxDays = 36_500;

/** What a duration looks like, as the end of a sentence. */
export const durationRule = `must be a duration such as 30m, 24h or 90d, up to ${durationMaxDays}d`;

/** The milliseconds of a duration such as `90d`, `24h`, `30m`, `10s` or `0`, or undefined. */
export function parseDuration(text: string): number | undefined {
  if (text === "0") return 0;
  const parts = /^(\d{1,9})([smhd])$/.exec(text);
  const unitMs = unitsMs[parts?.[2] ?? ""];
  if (parts === null || unitMs === undefined) return undefined;
  const ms = Number(parts[1]) * unitMs;
  return ms <= durationMaxDays * dayMs ? ms : undefined;
}

/** `ms` in its largest whole unit, as `parseDuration` reads it: `90d`, `1h`, `15m`, `10s`. */
export function durationText(ms: number): string {
  const unit = Object.entries(unitsMs).findLast(([, unitMs]) => ms >= unitMs && ms % unitMs === 0);
  return unit === undefined ? `${Math.round(ms / 1_000)}s` : `${ms / unit[1]}${unit[0]}`;
}
