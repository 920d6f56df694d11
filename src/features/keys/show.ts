import { Option, type Command } from "commander";
import { type ApiKey, type KeySecret } from "../../domain/api-key.ts";
import { banStepsMs } from "../../domain/ban.ts";
import { isoEnd, isoSeconds } from "../../domain/clock.ts";
import { durationText } from "../duration.ts";
import { fold } from "../visible.ts";
import { publishedLimits, type PlanName } from "../../domain/plan.ts";
import { usageStoredDays, windowMs } from "../../domain/windows.ts";
import { commandHere, toMakeKey } from "../../cli/command.ts";
import { storeCommand } from "../command.ts";
import { printJson, type Static } from "../json.ts";
import { type Io } from "../../cli/io.ts";
import { wholeNumber } from "../options.ts";
import { pad, percent, printTable } from "../table.ts";
import { counted, grouped, limitsText, printable } from "../../cli/terminal/text.ts";
import {
  accessText,
  dayText,
  keyDetailsJson,
  keyDetailsSchema,
  keyJson,
  keyListSchema,
  useFields,
  type WholeKey,
} from "./fields.ts";
import { keyArgument, labelOption, planOption } from "./options.ts";
import { keyService, keyState, keyStates, type KeyState } from "./service.ts";
import { type KeyUse, planAdvice, type UsageDay, UsageService } from "./usage.ts";

const nameCells = 12;
/** Days whose requests and refusals are shown, unless more are asked for. */
const daysShown = 7;
/** Days by which a plan is judged. */
const daysJudged = 30;
/** A key that is noisy for long has many events; a person reads the last ones. */
const eventsShownMax = 20;

interface ListOptions {
  readonly plan?: PlanName;
  readonly state?: KeyState;
  readonly name?: string;
}

export function listCommand(io: Io): Command {
  return storeCommand<ListOptions>(
    io,
    {
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
    },
    async (services, { loaded, json, ...wanted }) => {
      const { clock, place } = services;
      const every = await keyService(services).list();
      const nowMs = clock();
      const wantedKeys = every.filter((key) => isWanted(key, wanted, nowMs));
      const keys = await listed(new UsageService(services), wantedKeys);
      if (json) {
        const shown = keys.map(({ key, use, advice = null }) => {
          return { ...keyJson(key, nowMs), ...useFields.make(use), advice };
        });
        return printJson(io, shown satisfies Static<typeof keyListSchema>);
      }
      if (keys.length > 0) {
        printKeys(io, keys, nowMs);
        return io.out(keys.map(adviceText).join(""));
      }
      return io.err(
        every.length > 0
          ? `There is no such key among the ${grouped(every.length)} in ${place}.\n`
          : `There is no key in ${place}. Make one: ${commandHere(toMakeKey, loaded)}\n`,
      );
    },
  );
}

interface ListedKey {
  readonly key: ApiKey;
  readonly use: KeyUse;
  /** Its use in the days by which a plan is judged. */
  readonly days: readonly UsageDay[];
  readonly advice: ReturnType<typeof planAdvice>;
}

async function listed(usage: UsageService, wanted: readonly ApiKey[]): Promise<ListedKey[]> {
  const daysOf = Map.groupBy(await usage.days(daysJudged), ({ keyId }) => keyId);
  return (await usage.nowOfAll(wanted)).map(({ key, use }) => {
    const days = daysOf.get(key.id) ?? [];
    const advice = key.revokedAtMs === undefined ? planAdvice(key.limits, days) : undefined;
    return { key, use, days, advice };
  });
}

function isWanted(key: ApiKey, { plan, state, name }: ListOptions, nowMs: number): boolean {
  return (
    (plan === undefined || key.plan === plan) &&
    (state === undefined || keyState(key, nowMs) === state) &&
    (name === undefined || fold(key.name).includes(fold(name)))
  );
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
  const today = Math.floor(nowMs / windowMs.day);
  const rows = keys.map(({ key, use }) => [
    key.id,
    key.name,
    key.plan + accessText(key),
    keyState(key, nowMs),
    dayText(use.lastUsedDay, today),
    grouped(use.counts.dayUsed),
    grouped(key.limits.perDay),
  ]);
  printTable(io, columns, rows);
}

/** What to offer to the holder of a key that was near its limits. */
function adviceText({ key, days, advice }: ListedKey): string {
  if (advice === undefined) return "";
  const { window, plan } = advice;
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

/** A key as it is printed: its JSON form, and what that has in other words. */
interface Shown {
  readonly json: Static<typeof keyDetailsSchema>;
  readonly whole: WholeKey;
  readonly nowMs: number;
  readonly daysAsked: number;
}

export function showCommand(io: Io): Command {
  return storeCommand<{ readonly days: number }, [string]>(
    io,
    {
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
    },
    async (services, { json: asJson, days }, reference) => {
      const usage = new UsageService(services);
      const details = await keyService(services).details(reference);
      const { key } = details;
      const use = await usage.now(key);
      const whole = { ...details, use, days: await usage.days(days, key.id) };
      const nowMs = services.clock();
      const json = keyDetailsJson(whole, nowMs);
      if (asJson) return printJson(io, json);
      const shown = { json, whole, nowMs, daysAsked: days };
      for (const part of [keyLines, windowLines, dayLines, banLines, secretLines, eventLines]) {
        for (const line of part(shown)) io.out(`${line}\n`);
      }
      return undefined;
    },
  );
}

const field = (name: string, value: string) => `  ${pad(name, nameCells)}${value}`;

function keyLines({ json, whole: { key, use }, nowMs }: Shown): string[] {
  const revoked = json.revokedAt === null ? "" : ` since ${json.revokedAt}`;
  const today = Math.floor(nowMs / windowMs.day);
  return [
    `${json.id} "${printable(json.name)}"`,
    field("State", `${json.state}${revoked}`),
    field("Plan", `${json.plan} (${limitsText(key.limits)})`),
    field("Access", json.access),
    field("Made", json.createdAt),
    field("Ends", json.expiresAt ?? "never"),
    field("Last used", dayText(use.lastUsedDay, today)),
  ];
}

function windowLines({ json: { windows } }: Shown): string[] {
  const line = (name: string, { used, limit, resetsAt }: typeof windows.day) =>
    field(name, `${grouped(used)} of ${grouped(limit)}, until ${resetsAt}`);
  return ["", "Use now", line("Minute", windows.minute), line("Day", windows.day)];
}

function dayLines({ json: { days }, daysAsked }: Shown): string[] {
  const lines = days.map(({ day, requests, refusals, bans }) => {
    const refused = refusals === 0 ? "" : `, ${grouped(refusals)} refused (429)`;
    const banned = bans === 0 ? "" : `, ${counted(bans, "ban")}`;
    return field(day, `${counted(requests, "request")}${refused}${banned}`);
  });
  const shown = lines.length === 0 ? ["  no requests"] : lines.toReversed();
  return ["", `Last ${counted(daysAsked, "day")}`, ...shown];
}

function banLines({ json: { ban, bannedUntil } }: Shown): string[] {
  const inForce = ban.reason === null ? "no" : `until ${bannedUntil}: ${printable(ban.reason)}`;
  const next = banStepsMs[Math.min(ban.strikes, banStepsMs.length - 1)] ?? 0;
  const noisy = ban.noisyMinutes.join(", ");
  return [
    "",
    "Ban",
    field("In force", inForce),
    field("Strikes", `${ban.strikes}; the next ban would last ${durationText(next)}`),
    ...(noisy === "" ? [] : [field("Noisy", `minutes from ${noisy}`)]),
  ];
}

function secretLines({ whole: { key, secrets }, nowMs }: Shown): string[] {
  const keyEndMs = Math.min(key.revokedAtMs ?? Infinity, key.expiresAtMs ?? Infinity);
  const line = ({ mask, createdAtMs, expiresAtMs }: KeySecret) => {
    const endMs = Math.min(expiresAtMs ?? Infinity, keyEndMs);
    const isOver = nowMs >= endMs;
    const end =
      expiresAtMs === undefined && !isOver
        ? "in use"
        : `${isOver ? "ended" : "good until"} ${isoEnd(endMs)}`;
    return `  ${mask}  made ${isoSeconds(createdAtMs)}  ${end}`;
  };
  return ["", counted(secrets.length, "secret"), ...secrets.map(line)];
}

function eventLines({ json: { events: all } }: Shown): string[] {
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
  return ["", counted(all.length, "event"), ...lines];
}
