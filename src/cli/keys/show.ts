import type { Command } from "commander";
import type { KeySecret } from "../../domain/api-key.ts";
import { banStepsMs } from "../../domain/ban.ts";
import { isoEnd, isoSeconds } from "../../domain/clock.ts";
import { durationText } from "../../domain/duration.ts";
import { windowMs } from "../../domain/windows.ts";
import type { KeyDetails } from "../../service/keys.ts";
import { printJson, type Io } from "../io.ts";
import { addJson, type Static } from "../json.ts";
import { withServices } from "../open.ts";
import { configOf } from "../options.ts";
import { stylesOf } from "../terminal/style.ts";
import { counted, grouped, pad, printable } from "../terminal/text.ts";
import { keyCommand } from "./change.ts";
import { keyDetailsJson, keyDetailsSchema } from "./json.ts";
import { dayText, limitsText, statePaint, useBar } from "./shown.ts";

const barCells = 10;
const nameCells = 12;
/** Days whose requests and refusals are shown. */
const daysShown = 7;
/** A key that is noisy for long has many events; a person reads the last ones. */
const eventsShownMax = 20;

/** A key as it is printed: its JSON form, and what that has in other words. */
interface Shown {
  readonly json: Static<typeof keyDetailsSchema>;
  readonly details: KeyDetails;
  readonly lastUsedDay: number | undefined;
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
  journalctl -u rehome -o cat | grep '"key_rvrjrh3fx2ga"' | jq -r .address | sort | uniq -c
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
      const json = keyDetailsJson(details, { use, lastAddress, days }, nowMs);
      if (options.json) {
        printJson(io, json);
        return;
      }
      const shown = { json, details, lastUsedDay: use.lastUsedDay, nowMs };
      for (const part of [keyLines, windowLines, dayLines, banLines, secretLines, eventLines]) {
        for (const line of part(shown, io)) io.out(`${line}\n`);
      }
    });
  });
}

function field(name: string, value: string): string {
  return `  ${pad(name, nameCells)}${value}`;
}

function keyLines({ json, details: { key }, lastUsedDay, nowMs }: Shown, io: Io): string[] {
  const styles = stylesOf(io);
  const revoked = json.revokedAt === null ? "" : ` since ${json.revokedAt}`;
  const today = Math.floor(nowMs / windowMs.day);
  return [
    styles.bold(`${json.id} "${printable(json.name)}"`),
    field("State", `${statePaint(json.state, styles)(json.state)}${revoked}`),
    field("Plan", `${json.plan} (${limitsText(key)})`),
    field("Access", json.access),
    field("Made", json.createdAt),
    field("Ends", json.expiresAt ?? "never"),
    field("Last used", dayText(lastUsedDay, today)),
    field("Last from", json.lastAddress ?? "not known"),
  ];
}

function windowLines({ json: { windows } }: Shown, io: Io): string[] {
  const styles = stylesOf(io);
  const line = (name: string, { used, limit, resetsAt }: typeof windows.day) => {
    const { text, paint } = useBar(used, limit, barCells, styles);
    return field(name, `${paint(text)}  ${grouped(used)} of ${grouped(limit)}, until ${resetsAt}`);
  };
  return ["", styles.bold("Use now"), line("Minute", windows.minute), line("Day", windows.day)];
}

function dayLines({ json: { days } }: Shown, io: Io): string[] {
  const styles = stylesOf(io);
  const lines = days.map(({ day, requests, refusals, bans }) => {
    const refused =
      refusals === 0 ? "" : `, ${styles.yellow(`${grouped(refusals)} refused (429)`)}`;
    const banned = bans === 0 ? "" : `, ${styles.red(counted(bans, "ban"))}`;
    return field(day, `${counted(requests, "request")}${refused}${banned}`);
  });
  const title = styles.bold(`Last ${daysShown} days`);
  return ["", title, ...(lines.length === 0 ? ["  no requests"] : lines.toReversed())];
}

function banLines({ json: { ban, bannedUntil } }: Shown, io: Io): string[] {
  const styles = stylesOf(io);
  const inForce =
    ban.reason === null ? "no" : styles.red(`until ${bannedUntil}: ${printable(ban.reason)}`);
  const next = banStepsMs[Math.min(ban.strikes, banStepsMs.length - 1)] ?? 0;
  const lines = [
    "",
    styles.bold("Ban"),
    field("In force", inForce),
    field("Strikes", `${ban.strikes}; the next ban would last ${durationText(next)}`),
  ];
  if (ban.noisyMinutes.length > 0) {
    lines.push(field("Noisy", `minutes from ${ban.noisyMinutes.join(", ")}`));
  }
  return lines;
}

function secretLines({ details: { key, secrets }, nowMs }: Shown, io: Io): string[] {
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

function eventLines({ json: { events: all } }: Shown, io: Io): string[] {
  const events = all.slice(-eventsShownMax);
  const styles = stylesOf(io);
  const widthOf = (values: readonly string[]) =>
    Math.max(0, ...values.map((value) => Bun.stringWidth(value)));
  const actorCells = widthOf(events.map(({ actor }) => printable(actor)));
  const lines = events.flatMap(({ at, actor, action, changes }) => {
    const fieldCells = widthOf(changes.map(({ field }) => field));
    const head = `  ${at}  ${pad(printable(actor), actorCells)}  `;
    const diff = changes.map(({ field, before, after }) => {
      const was = before === null ? "" : `${styles.red(printable(before))} → `;
      const is = after === null ? styles.dim("none") : styles.green(printable(after));
      return `      ${pad(field, fieldCells)}  ${was}${is}`;
    });
    return [head + styles.bold(action), ...diff];
  });
  const earlier = all.length - events.length;
  if (earlier > 0)
    lines.unshift(styles.dim(`  ${grouped(earlier)} earlier ones: --json shows all`));
  return ["", styles.bold(counted(all.length, "event")), ...lines];
}
