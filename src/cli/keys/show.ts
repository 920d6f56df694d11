import type { Command } from "commander";
import { accessOf, keyState, type KeySecret } from "../../domain/api-key.ts";
import { banStepsMs, isBanned, stepAt } from "../../domain/ban.ts";
import { isoDay, isoEnd, isoSeconds } from "../../domain/clock.ts";
import { durationText } from "../../domain/duration.ts";
import { windowMs } from "../../domain/windows.ts";
import type { KeyDetails } from "../../service/keys.ts";
import { printJson, type Io } from "../io.ts";
import { addJson } from "../json.ts";
import { withServices } from "../open.ts";
import { configOf } from "../options.ts";
import { stylesOf } from "../terminal/style.ts";
import { counted, grouped, pad, printable } from "../terminal/text.ts";
import { keyCommand } from "./change.ts";
import { changesOf, keyDetailsJson, keyDetailsSchema, type KeyUsage } from "./json.ts";
import { dayText, limitsText, statePaint, useBar } from "./shown.ts";

const barCells = 10;
const nameCells = 12;
/** Days whose requests and refusals are shown. */
const daysShown = 7;
/** A key that is noisy for long has many events; a person reads the last ones. */
const eventsShownMax = 20;

/** A key with all that is shown of it, at one moment. */
interface Shown extends KeyDetails, KeyUsage {
  readonly nowMs: number;
}

export function showCommand(io: Io): Command {
  const command = keyCommand("show", "show everything about a key, except its secret").addHelpText(
    "after",
    `
"Last from" is the client address at the last write of the counters. That is the last admitted request on Free, and may be a
few requests earlier on other plans. The log has the client address and the key's id of each request.

Examples:
  rehome keys show key_7h2m
  journalctl -u rehome -o cat | jq -r 'select(.keyId == "key_7h2m") | .address' | sort | uniq -c
  rehome keys show website --json | jq .events`,
  );
  addJson(command, keyDetailsSchema);
  return command.action(async (reference: string, options: { json?: true }) => {
    const { config } = configOf(command, io);
    await withServices(config, io, async ({ keys, usage, clock }) => {
      const details = await keys.details(reference);
      const use = await usage.now(details.key);
      const lastAddress = await usage.lastAddress(details.key);
      const days = await usage.days(daysShown, details.key.id);
      const nowMs = clock();
      if (options.json) {
        printJson(io, keyDetailsJson(details, { use, lastAddress, days }, nowMs));
        return;
      }
      const shown = { ...details, use, lastAddress, days, nowMs };
      for (const part of [keyLines, windowLines, dayLines, banLines, secretLines, eventLines]) {
        for (const line of part(shown, io)) io.out(`${line}\n`);
      }
    });
  });
}

function field(name: string, value: string): string {
  return `  ${pad(name, nameCells)}${value}`;
}

function keyLines({ key, use, lastAddress, nowMs }: Shown, io: Io): string[] {
  const styles = stylesOf(io);
  const state = keyState(key, nowMs);
  const revoked = key.revokedAtMs === undefined ? "" : ` since ${isoSeconds(key.revokedAtMs)}`;
  const today = Math.floor(nowMs / windowMs.day);
  return [
    styles.bold(`${key.id} "${printable(key.name)}"`),
    field("State", `${statePaint(state, styles)(state)}${revoked}`),
    field("Plan", `${key.plan} (${limitsText(key)})`),
    field("Access", accessOf(key)),
    field("Made", isoSeconds(key.createdAtMs)),
    field("Ends", key.expiresAtMs === undefined ? "never" : isoEnd(key.expiresAtMs)),
    field("Last used", dayText(use.lastUsedDay, today)),
    field("Last from", lastAddress ?? "not known"),
  ];
}

function windowLines({ key, use }: Shown, io: Io): string[] {
  const styles = stylesOf(io);
  const { minuteUsed, minuteLabel, dayUsed, dayLabel } = use.counts;
  const line = (name: string, used: number, limit: number, endsAtMs: number) => {
    const { text, paint } = useBar(used, limit, barCells, styles);
    return field(
      name,
      `${paint(text)}  ${grouped(used)} of ${grouped(limit)}, until ${isoSeconds(endsAtMs)}`,
    );
  };
  return [
    "",
    styles.bold("Use now"),
    line("Minute", minuteUsed, key.limits.perMinute, (minuteLabel + 1) * windowMs.minute),
    line("Day", dayUsed, key.limits.perDay, (dayLabel + 1) * windowMs.day),
  ];
}

function dayLines({ days }: Shown, io: Io): string[] {
  const styles = stylesOf(io);
  const lines = days.map(({ day, requests, refusals, bans }) => {
    const refused =
      refusals === 0 ? "" : `, ${styles.yellow(`${grouped(refusals)} refused (429)`)}`;
    const banned = bans === 0 ? "" : `, ${styles.red(counted(bans, "ban"))}`;
    return field(isoDay(day), `${counted(requests, "request")}${refused}${banned}`);
  });
  const title = styles.bold(`Last ${daysShown} days`);
  return ["", title, ...(lines.length === 0 ? ["  no requests"] : lines.toReversed())];
}

function banLines({ key, nowMs }: Shown, io: Io): string[] {
  const styles = stylesOf(io);
  const { ban } = key;
  const isInForce = isBanned(ban, nowMs);
  const next = banStepsMs[Math.min(stepAt(ban, nowMs), banStepsMs.length - 1)] ?? 0;
  const lines = [
    "",
    styles.bold("Ban"),
    field(
      "In force",
      isInForce ? styles.red(`until ${isoEnd(ban.bannedUntilMs)}: ${printable(ban.reason)}`) : "no",
    ),
    field("Strikes", `${stepAt(ban, nowMs)}; the next ban would last ${durationText(next)}`),
  ];
  if (ban.noisyMinutes.length > 0) {
    const minutes = ban.noisyMinutes.map((label) => isoSeconds(label * windowMs.minute));
    lines.push(field("Noisy", `minutes from ${minutes.join(", ")}`));
  }
  return lines;
}

function secretLines({ key, secrets, nowMs }: Shown, io: Io): string[] {
  const styles = stylesOf(io);
  const keyEndMs = Math.min(key.revokedAtMs ?? Infinity, key.expiresAtMs ?? Infinity);
  const line = ({ mask, createdAtMs, expiresAtMs }: KeySecret) => {
    const endMs = Math.min(expiresAtMs ?? Infinity, keyEndMs);
    const isOver = nowMs >= endMs;
    const end =
      expiresAtMs === undefined && !isOver
        ? "in use"
        : `${isOver ? "ended" : "good until"} ${isoEnd(endMs)}`;
    const text = `  ${mask}  made ${isoSeconds(createdAtMs)}  ${end}`;
    return isOver ? styles.dim(text) : text;
  };
  return ["", styles.bold(counted(secrets.length, "secret")), ...secrets.map(line)];
}

function eventLines({ events: all, secrets }: Shown, io: Io): string[] {
  const events = all.slice(-eventsShownMax);
  const styles = stylesOf(io);
  const widthOf = (values: readonly string[]) =>
    Math.max(0, ...values.map((value) => Bun.stringWidth(value)));
  const actorCells = widthOf(events.map(({ actor }) => printable(actor)));
  const lines = events.flatMap((event) => {
    const changes = changesOf(event, secrets);
    const fieldCells = widthOf(changes.map(({ field }) => field));
    const head = `  ${isoSeconds(event.atMs)}  ${pad(printable(event.actor), actorCells)}  `;
    const diff = changes.map(({ field, before, after }) => {
      const was = before === null ? "" : `${styles.red(printable(before))} → `;
      const is = after === null ? styles.dim("none") : styles.green(printable(after));
      return `      ${pad(field, fieldCells)}  ${was}${is}`;
    });
    return [head + styles.bold(event.action), ...diff];
  });
  const earlier = all.length - events.length;
  if (earlier > 0)
    lines.unshift(styles.dim(`  ${grouped(earlier)} earlier ones: --json shows all`));
  return ["", styles.bold(counted(all.length, "event")), ...lines];
}
