import type { ApiKey, KeyState } from "../../domain/api-key.ts";
import { isoDay } from "../../domain/clock.ts";
import { nearLimitShare } from "../../domain/plan.ts";
import { bar, percent, grouped } from "../terminal/text.ts";
import type { Paint, Style } from "../terminal/style.ts";

/** A plan's limits in words: `60/min, 1,000/day`. */
export function limitsText({ limits }: ApiKey): string {
  return `${grouped(limits.perMinute)}/min, ${grouped(limits.perDay)}/day`;
}

/** What sets a read-only key apart, as the end of its limits. */
export function accessText({ readOnly }: ApiKey): string {
  return readOnly ? ", read-only" : "";
}

/** A UTC day as people say it: `today`, `yesterday`, its date, or `never`. */
export function dayText(day: number | undefined, today: number): string {
  if (day === undefined) return "never";
  if (day >= today) return "today";
  return day === today - 1 ? "yesterday" : isoDay(day);
}

/** The colour that goes with a state. */
export function statePaint(state: KeyState, styles: Readonly<Record<Style, Paint>>): Paint {
  return { active: styles.green, banned: styles.red, expired: styles.dim, revoked: styles.dim }[
    state
  ];
}

/** How full a window is: `███▌░░  58%`, and the colour that goes with it. */
export function useBar(
  used: number,
  limit: number,
  cells: number,
  styles: Readonly<Record<Style, Paint>>,
): { text: string; paint: Paint } {
  const share = used / limit;
  const paint = share >= 1 ? styles.red : share >= nearLimitShare ? styles.yellow : styles.green;
  return { text: `${bar(share, cells)} ${percent(share).padStart(4)}`, paint };
}
