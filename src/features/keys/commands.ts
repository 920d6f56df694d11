import { Argument, Option, type Command } from "commander";
import { commandHere, toMakeKey } from "../../cli/command.ts";
import { type Io, writeSecret } from "../../cli/io.ts";
import { counted, grouped, limitsText, printable } from "../../cli/terminal/text.ts";
import type { ApiKey } from "../../domain/api-key.ts";
import { banStepsMs } from "../../domain/ban.ts";
import { dayMs, isoEnd } from "../../domain/clock.ts";
import { limitMax, planNames, publishedLimits, type PlanName } from "../../domain/plan.ts";
import { usageStoredDays } from "../../domain/windows.ts";
import { commandGroup, type Given, type StoreCommand, storeCommand } from "../command.ts";
import { confirm } from "../confirm.ts";
import { durationRule, durationText } from "../duration.ts";
import { jsonDocument, printJson, type Static } from "../json.ts";
import { durationOf, durationOption, parseText, wholeNumber, yesOption } from "../options.ts";
import { flexible, optional, pad, percent, printTable, right } from "../table.ts";
import { UsageError } from "../usage-error.ts";
import { fold } from "../visible.ts";
import {
  accessText,
  issuedJson,
  issuedSchema,
  keyDetailsJson,
  keyDetailsSchema,
  keyJson,
  keyListSchema,
  keySchema,
  listedKeyJson,
} from "./fields.ts";
import { KeyService, keyState, keyStates, type KeyState } from "./service.ts";
import { isoDay, type UsageDay, UsageService } from "./usage.ts";

const nameCells = 12;
const daysShown = 7;
const daysJudged = 30;
/** A key that is noisy for long has many events; a person reads the last ones. */
const eventsShownMax = 20;

type ListedKey = Static<typeof keyListSchema>[number];
type ShownKey = Static<typeof keyDetailsSchema>;

export function keysCommand(io: Io): Command {
  const form = {
    name: "keys",
    about: "make, show and change API keys, with or without a running server",
    remark: "Name a key by its id, by a unique beginning of its id, or by its label.",
    examples: [
      "rehome keys create --plan pro --name website",
      "rehome keys show website",
      "rehome keys rotate website --grace 0",
    ],
  };
  const commands = [create, list, show, update, rotate, revoke, ban, unban];
  return commandGroup(io, form, commands);
}

const keyArgument = new Argument("<key>", "id, the beginning of one, or label");

const planOption = (description = "plan of the key") =>
  new Option("--plan <plan>", description).choices([...planNames]);

const labelOption = (description: string) =>
  new Option("--name <label>", description).argParser(parseText);

const keyOptions = (expires: string, readOnly: string, readWrite: string) => [
  ...["minute", "day"].map((window) =>
    new Option(`--per-${window} <N>`, `requests per ${window} (plan enterprise only)`).argParser(
      wholeNumber(limitMax),
    ),
  ),
  new Option("--read-only", readOnly).conflicts("readWrite"),
  new Option("--read-write", readWrite).conflicts("readOnly"),
  new Option("--expires-in <duration>", expires).argParser((value: string) =>
    value === "never" ? value : durationOf(value, 1, `${durationRule}, or never`),
  ),
];

interface KeyOptions {
  readonly plan: PlanName;
  readonly name: string;
  readonly perMinute?: number;
  readonly perDay?: number;
  readonly expiresIn?: number | "never";
  readonly readOnly?: true;
}

const create = storeCommand<KeyOptions>({
  name: "create",
  about: "make a key and print its secret, which is shown only this once",
  options: [
    planOption().makeOptionMandatory(),
    labelOption("what the key is for, such as the customer's name").makeOptionMandatory(),
    ...keyOptions(
      "when the key expires, such as 90d; never by default",
      "the key can read animals but not add them",
      "the key can also add animals, which is the default",
    ),
  ],
  examples: [
    'rehome keys create --plan free --name "shelter website"',
    'rehome keys create --plan enterprise --per-minute 5000 --per-day 1000000 --name "city of Austin"',
    "rehome keys create --plan pro --name trial --expires-in 90d --json | jq -r .key",
  ],
  json: issuedSchema,
  settings: ["environment"],
  begins: true,
  async run(io, services, { json, expiresIn, name, plan, perMinute, perDay, readOnly }) {
    const { keys, clock, place } = services;
    const expiresInMs = expiresIn === "never" ? undefined : expiresIn;
    const issued = await keys.create({ name, plan, perMinute, perDay, readOnly, expiresInMs });
    const key = issuedJson(issued, clock());
    const ifLost = `rehome keys rotate ${key.id} --grace 0`;
    if (json) return writeSecret(io, jsonDocument(key), ifLost);
    const limits = limitsText(key.limits) + accessText(key);
    io.err(`Made ${key.id} "${printable(key.name)}" (plan ${key.plan}: ${limits}) in ${place}.
This is the secret. It is shown only now:\n`);
    return writeSecret(io, `${key.key}\n`, ifLost);
  },
});

const rotate = storeCommand<{ readonly grace: number }, [string]>({
  name: "rotate",
  about: "give a key a new secret; it keeps its counters, plan and bans",
  arguments: [keyArgument],
  options: [
    durationOption(
      "--grace <duration>",
      "how long the old secret stays valid; 0 ends it at once",
    ).default(dayMs, "24h"),
  ],
  examples: [
    "rehome keys rotate key_7h2m",
    "rehome keys rotate key_7h2m --grace 0     the old secret leaked",
  ],
  json: issuedSchema,
  settings: ["environment"],
  async run(io, services, { json, grace }, reference) {
    const issued = await new KeyService(services).rotate(reference, grace);
    const nowMs = services.clock();
    const shown = issuedJson(issued, nowMs);
    const { id, name, key, state, expiresAt } = shown;
    const ifLost = `rehome keys rotate ${id}`;
    if (json) return writeSecret(io, jsonDocument(shown), ifLost);
    const old =
      grace === 0 ? "is refused from now on" : `stays valid until ${isoEnd(nowMs + grace)}`;
    io.err(
      `${id} "${printable(name)}" has a new secret. The old one ${old}. The new one is shown only now:\n`,
    );
    await writeSecret(io, `${key}\n`, ifLost);
    if (state !== "expired") return undefined;
    return io.err(
      `The key expired ${expiresAt}: it is refused until rehome keys update ${id} --expires-in 90d.\n`,
    );
  },
});

/** A command that changes one key. It takes effect at the next request on every server. */
const changeCommand = <Options>({
  change,
  ...form
}: Omit<StoreCommand<Options, [string]>, "run"> & {
  change(
    keys: KeyService,
    reference: string,
    given: Given<Options> & { readonly io: Io },
  ): Promise<ApiKey>;
}) =>
  storeCommand<Options, [string]>({
    ...form,
    arguments: [keyArgument],
    json: keySchema,
    async run(io, services, given, reference) {
      const changed = await change(new KeyService(services), reference, { ...given, io });
      const key = keyJson(changed, services.clock());
      if (given.json) return printJson(io, key);
      const until = key.state === "banned" ? ` until ${key.bannedUntil}` : "";
      const end = key.expiresAt === null ? "" : `, until ${key.expiresAt}`;
      return io.out(
        `${key.id} "${printable(key.name)}" is ${key.state}${until}: plan ${key.plan}, ${limitsText(key.limits)}${accessText(key)}${end}.\n`,
      );
    },
  });

const update = changeCommand<Partial<KeyOptions> & { readonly readWrite?: true }>({
  name: "update",
  about: "change a key's plan, limits, access, label or expiry; used requests stay used",
  options: [
    planOption(),
    labelOption("new label"),
    ...keyOptions(
      "when the key expires, counted from now, such as 90d; never removes the expiry",
      "from now on the key can read animals but not add them",
      "from now on the key can also add animals",
    ),
  ],
  examples: [
    "rehome keys update key_7h2m --plan business",
    'rehome keys update "city of Austin" --per-minute 10000',
    "rehome keys update trial --expires-in 90d     from now on, of an expired key too",
  ],
  change(keys, reference, given) {
    const { plan, name, perMinute, perDay, expiresIn: expiresInMs } = given;
    const readOnly = given.readWrite === undefined ? given.readOnly : false;
    const wanted = { plan, name, perMinute, perDay, expiresInMs, readOnly };
    if (Object.values(wanted).some((value) => value !== undefined)) {
      return keys.update(reference, wanted);
    }
    throw new UsageError(
      "There is nothing to change.",
      "Give --plan, --per-minute, --per-day, --name, --expires-in, --read-only or --read-write.",
    );
  },
});

const revoke = changeCommand<{ readonly yes?: true }>({
  name: "revoke",
  about: "end a key for good, with all its secrets",
  usesRoom: true,
  options: [yesOption("do not ask")],
  remark: "It asks on a terminal, but not in a script, so that an alarm can revoke a leaked key.",
  examples: ["rehome keys revoke key_7h2m", "rehome keys revoke website --yes"],
  async change(keys, reference, { io, yes = false }) {
    const { id, name } = await keys.resolve(reference);
    const unattended = "proceed";
    await confirm(io, `End ${id} "${printable(name)}" for good?`, { yes, unattended });
    return keys.revoke(id);
  },
});

const ban = changeCommand<{ readonly for: number }>({
  name: "ban",
  about: "ban a key for some time",
  options: [durationOption("--for <duration>", "how long, such as 1h", 1).makeOptionMandatory()],
  examples: ["rehome keys ban key_7h2m --for 1h", "rehome keys ban website --for 7d"],
  change: (keys, reference, { for: durationMs }) => keys.ban(reference, durationMs),
});

const unban = changeCommand<object>({
  name: "unban",
  about: "end a key's ban",
  examples: [
    "rehome keys unban key_7h2m",
    `rehome keys list --json | jq -r '.[] | select(.state == "banned").id' | xargs -rn1 rehome keys unban`,
  ],
  change: (keys, reference) => keys.unban(reference),
});

const list = storeCommand<{ plan?: PlanName; state?: KeyState; name?: string }>({
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
    `rehome keys list --json | jq '.[] | select(.state == "banned")'`,
    "rehome keys list --json | jq '.[] | select(.advice)'",
  ],
  json: keyListSchema,
  async run(io, services, { loaded, json, plan, state, name = "" }) {
    const { clock, place } = services;
    const usage = new UsageService(services);
    const nowMs = clock();
    const every = await new KeyService(services).list();
    const wanted = every.filter(
      (key) =>
        [undefined, key.plan].includes(plan) &&
        [undefined, keyState(key, nowMs)].includes(state) &&
        fold(key.name).includes(fold(name)),
    );
    const found = await usage.nowOfAll(wanted);
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

function printKeys(io: Io, keys: readonly ListedKey[], nowMs: number): void {
  const columns = [
    "ID",
    flexible("LABEL"),
    optional("PLAN"),
    "STATE",
    optional("LAST USED"),
    right("TODAY"),
    { ...right("OF"), optional: true },
  ];
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

function adviceText(key: ListedKey, days: readonly UsageDay[]): string {
  if (key.advice === null) return "";
  const { window, plan } = key.advice;
  const peak = Math.max(...days.map(({ requests }) => requests));
  const refusals = days.reduce((sum, day) => sum + day.refusals, 0);
  const { perDay } = key.limits;
  const why =
    window === "day"
      ? `used ${percent(peak / perDay)} of its day (${grouped(peak)} of ${grouped(perDay)})`
      : `was refused ${counted(refusals, "time")}, although no day was used up`;
  const isCustom = plan === "enterprise";
  const fits = isCustom ? "with custom limits" : `(${limitsText(publishedLimits[plan])})`;
  const limits = isCustom ? " --per-minute N --per-day N" : "";
  return `
${key.id} "${printable(key.name)}", plan ${key.plan}, ${why}.
  ${plan} ${fits} would fit: rehome keys update ${key.id} --plan ${plan}${limits}
`;
}

const show = storeCommand<{ readonly days: number }, [string]>({
  name: "show",
  about: "show everything about a key, except its secret",
  arguments: [keyArgument],
  options: [
    new Option("--days <N>", `days of use to show, from 1 to ${usageStoredDays}`)
      .default(daysShown)
      .argParser(wholeNumber(usageStoredDays)),
  ],
  remark: "The log has the client address and the key's id of each request.",
  examples: [
    "rehome keys show key_7h2m",
    `journalctl -u rehome -o cat | grep '"key_rvrjrh3fx2ga"' | jq -r .address | sort | uniq -c`,
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
