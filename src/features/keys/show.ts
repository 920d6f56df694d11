import { Option } from "commander";
import { banStepsMs } from "../../domain/ban.ts";
import { dayMs, isoEnd } from "../../domain/clock.ts";
import { durationText } from "../duration.ts";
import type { ApiKey } from "../../domain/api-key.ts";
import { fold } from "../visible.ts";
import { publishedLimits, type PlanName } from "../../domain/plan.ts";
import { usageStoredDays } from "../../domain/windows.ts";
import { commandHere, toMakeKey } from "../../cli/command.ts";
import { storeCommand } from "../command.ts";
import { printJson, type Static } from "../json.ts";
import { type Io } from "../../cli/io.ts";
import { wholeNumber } from "../options.ts";
import { pad, percent, printTable } from "../table.ts";
import { counted, grouped, limitsText, printable } from "../../cli/terminal/text.ts";
import {
  accessText,
  keyDetailsJson,
  keyDetailsSchema,
  keyListSchema,
  listedKeyJson,
} from "./fields.ts";
import { keyArgument, labelOption, planOption } from "./options.ts";
import { KeyService, keyState, keyStates, type KeyState } from "./service.ts";
import { isoDay, type UsageDay, UsageService } from "./usage.ts";

const nameCells = 12;
/** Days whose requests and refusals are shown, unless more are asked for. */
const daysShown = 7;
/** Days by which a plan is judged. */
const daysJudged = 30;
/** A key that is noisy for long has many events; a person reads the last ones. */
const eventsShownMax = 20;

type ListedKey = Static<typeof keyListSchema>[number];
type ShownKey = Static<typeof keyDetailsSchema>;

interface ListOptions {
  readonly plan?: PlanName;
  readonly state?: KeyState;
  readonly name?: string;
}

export const listCommand = storeCommand<ListOptions>({
  name: "list",
  about: "list all keys and their use, without their secrets",
  options: [
    planOption("only those on this plan"),
    new Option("--state <state>", "only those in this state").choices([...keyStates]),
    labelOption("only those whose label contains this text"),
  ],
  remark: `TODAY counts the requests of the current UTC day, with those that a running server has
reserved: up to one second of the plan. Below, it names keys that were near their limits in the last
${daysJudged} days, and a plan that would fit.`,
  examples: [
    "rehome keys list",
    "rehome keys list --plan free --state active --name shelter",
    `rehome keys list --json | jq '.[] | select(.state == "banned")'`,
    "rehome keys list --json | jq '.[] | select(.advice)'",
  ],
  json: keyListSchema,
  async run(io, services, { loaded, json, ...wanted }) {
    const { clock, place } = services;
    const usage = new UsageService(services);
    const nowMs = clock();
    const every = await new KeyService(services).list();
    const found = await usage.nowOfAll(every.filter((key) => isWanted(key, wanted, nowMs)));
    const daysOf = Map.groupBy(await usage.days(daysJudged), ({ keyId }) => keyId);
    const keys = found.map(({ key, use }) =>
      listedKeyJson(key, use, daysOf.get(key.id) ?? [], nowMs),
    );
    if (json) return printJson(io, keys);
    if (keys.length > 0) {
      printKeys(io, keys, nowMs);
      return io.out(keys.map((key) => adviceText(key, daysOf.get(key.id) ?? [])).join(""));
    }
    return io.err(
      every.length > 0
        ? `There is no such key among the ${grouped(every.length)} in ${place}.\n`
        : `There is no key in ${place}. Make one: ${commandHere(toMakeKey, loaded)}\n`,
    );
  },
});

function isWanted(key: ApiKey, { plan, state, name = "" }: ListOptions, nowMs: number): boolean {
  const own = keyState(key, nowMs);
  const isSame = (plan ?? key.plan) === key.plan && (state ?? own) === own;
  return isSame && fold(key.name).includes(fold(name));
}

function printKeys(io: Io, keys: readonly ListedKey[], nowMs: number): void {
  const columns = [
    "ID",
    { title: "LABEL", flexible: true },
    { title: "PLAN", optional: true },
    "STATE",
    { title: "LAST USED", optional: true },
    { title: "TODAY", align: "right" },
    { title: "OF", align: "right", optional: true },
  ] as const;
  const rows = keys.map((key) => [
    key.id,
    key.name,
    key.plan + accessText(key),
    key.state,
    lastUse(key, nowMs),
    grouped(key.requestsToday),
    grouped(key.limits.perDay),
  ]);
  printTable(io, columns, rows);
}

/** The UTC day of the last use as people say it: `today`, `yesterday`, its date, or `never`. */
function lastUse({ lastUsedOn }: Pick<ListedKey, "lastUsedOn">, nowMs: number): string {
  const today = Math.floor(nowMs / dayMs);
  if (lastUsedOn === null) return "never";
  if (lastUsedOn >= isoDay(today)) return "today";
  return lastUsedOn === isoDay(today - 1) ? "yesterday" : lastUsedOn;
}

/** What to offer to the holder of a key that was near its limits. */
function adviceText(key: ListedKey, days: readonly UsageDay[]): string {
  if (key.advice === null) return "";
  const { window, plan } = key.advice;
  const peak = Math.max(...days.map(({ requests }) => requests));
  const refusals = days.reduce((sum, day) => sum + day.refusals, 0);
  const why =
    window === "day"
      ? `used ${percent(peak / key.limits.perDay)} of its day (${grouped(peak)} of ${grouped(key.limits.perDay)})`
      : `was refused ${counted(refusals, "time")}, although no day was used up`;
  const isCustom = plan === "enterprise";
  const fits = isCustom ? "with custom limits" : `(${limitsText(publishedLimits[plan])})`;
  const limits = isCustom ? " --per-minute N --per-day N" : "";
  return `
${key.id} "${printable(key.name)}", plan ${key.plan}, ${why}.
  ${plan} ${fits} would fit: rehome keys update ${key.id} --plan ${plan}${limits}
`;
}

export const showCommand = storeCommand<{ readonly days: number }, [string]>({
  name: "show",
  about: "show everything about a key, except its secret",
  arguments: [keyArgument()],
  options: [
    new Option("--days <N>", `days of use to show, from 1 to ${usageStoredDays}`)
      .default(daysShown)
      .argParser(wholeNumber(usageStoredDays)),
  ],
  remark: "The log has the client address and the key's id of each request.",
  examples: [
    "rehome keys show key_7h2m",
    `journalctl -u rehome -o cat | grep '"key_rvrjrh3fx2ga"' | jq -r .address | sort | uniq -c`,
    "rehome keys show website --days 90",
    "rehome keys show website --json | jq .events",
  ],
  json: keyDetailsSchema,
  async run(io, services, { json, days: count }, reference) {
    const usage = new UsageService(services);
    const details = await new KeyService(services).details(reference);
    const use = await usage.now(details.key);
    const days = await usage.days(count, details.key.id);
    const nowMs = services.clock();
    const key = keyDetailsJson(details, use, days, nowMs);
    if (json) return printJson(io, key);
    const parts = [keyLines(key, nowMs), windowLines(key), dayLines(key, count), banLines(key)];
    parts.push(secretLines(key, nowMs), eventLines(key));
    return io.out(parts.map((lines) => `${lines.join("\n")}\n`).join("\n"));
  },
});

const field = (name: string, value: string) => `  ${pad(name, nameCells)}${value}`;

function keyLines(key: ShownKey, nowMs: number): string[] {
  const revoked = key.revokedAt === null ? "" : ` since ${key.revokedAt}`;
  return [
    `${key.id} "${printable(key.name)}"`,
    field("State", `${key.state}${revoked}`),
    field("Plan", `${key.plan} (${limitsText(key.limits)})`),
    field("Access", key.access),
    field("Made", key.createdAt),
    field("Ends", key.expiresAt ?? "never"),
    field("Last used", lastUse(key, nowMs)),
  ];
}

function windowLines({ windows }: ShownKey): string[] {
  const line = (name: string, { used, limit, resetsAt }: typeof windows.day) =>
    field(name, `${grouped(used)} of ${grouped(limit)}, until ${resetsAt}`);
  return ["Use now", line("Minute", windows.minute), line("Day", windows.day)];
}

function dayLines({ days }: ShownKey, count: number): string[] {
  const lines = days.map(({ day, requests, refusals, bans }) => {
    const refused = refusals === 0 ? "" : `, ${grouped(refusals)} refused (429)`;
    const banned = bans === 0 ? "" : `, ${counted(bans, "ban")}`;
    return field(day, `${counted(requests, "request")}${refused}${banned}`);
  });
  const shown = lines.length === 0 ? ["  no requests"] : lines.toReversed();
  return [`Last ${counted(count, "day")}`, ...shown];
}

function banLines({ ban, bannedUntil }: ShownKey): string[] {
  const inForce = ban.reason === null ? "no" : `until ${bannedUntil}: ${printable(ban.reason)}`;
  const next = banStepsMs[Math.min(ban.strikes, banStepsMs.length - 1)] ?? 0;
  const noisy = ban.noisyMinutes.join(", ");
  return [
    "Ban",
    field("In force", inForce),
    field("Strikes", `${ban.strikes}; the next ban would last ${durationText(next)}`),
    ...(noisy === "" ? [] : [field("Noisy", `minutes from ${noisy}`)]),
  ];
}

function secretLines({ revokedAt, expiresAt, secrets }: ShownKey, nowMs: number): string[] {
  const lines = secrets.map((secret) => {
    const ends = [secret.expiresAt, revokedAt, expiresAt].filter((each) => each !== null);
    const end = ends.toSorted()[0] ?? "";
    const isOver = end !== "" && end <= isoEnd(nowMs);
    const isInUse = secret.expiresAt === null && !isOver;
    const state = isInUse ? "in use" : `${isOver ? "ended" : "good until"} ${end}`;
    return `  ${secret.mask}  made ${secret.createdAt}  ${state}`;
  });
  return [counted(secrets.length, "secret"), ...lines];
}

function eventLines({ events: all }: ShownKey): string[] {
  const events = all.slice(-eventsShownMax);
  const lines = events.flatMap(({ at, actor, action, changes }) => [
    `  ${at}  ${printable(actor)}  ${action}`,
    ...changes.map(({ field: name, before, after }) => {
      const was = before === null ? "" : `${printable(before)} -> `;
      return `      ${name}: ${was}${after === null ? "none" : printable(after)}`;
    }),
  ]);
  const earlier = all.length - events.length;
  if (earlier > 0) lines.unshift(`  ${grouped(earlier)} earlier ones: --json shows all`);
  return [counted(all.length, "event"), ...lines];
}
