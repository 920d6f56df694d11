import type { Command } from "commander";
import { settings, variableOf, type LoadedConfig } from "../../config.ts";
import { type ApiKey } from "../../domain/api-key.ts";
import { dayMs, isoEnd } from "../../domain/clock.ts";
import { AppError } from "../../domain/errors.ts";
import type { PlanName } from "../../domain/plan.ts";
import type { Services } from "../../service/services.ts";
import { commandGroup, type Given, type StoreCommand, storeCommand } from "../command.ts";
import { UsageError } from "../usage-error.ts";
import { type Io, writeSecret } from "../../cli/io.ts";
import { jsonDocument, printJson } from "../json.ts";
import { durationOption, yesOption } from "../options.ts";
import {
  expiryOption,
  keyArgument,
  labelOption,
  limitOption,
  planOption,
  readOnlyOption,
  readWriteOption,
} from "./options.ts";
import { confirm } from "../confirm.ts";
import { limitsText, printable } from "../../cli/terminal/text.ts";
import { accessText, issuedJson, issuedSchema, keyJson, keySchema } from "./fields.ts";
import { KeyService } from "./service.ts";
import { listCommand, showCommand } from "./show.ts";

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
  const commands = [create, listCommand, showCommand, update, rotate, revoke, ban, unban];
  return commandGroup(io, form, commands);
}

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
    limitOption("minute"),
    limitOption("day"),
    readOnlyOption("the key can read animals but not add them"),
    readWriteOption("the key can also add animals, which is the default"),
    expiryOption("when the key expires, such as 90d; never by default"),
  ],
  examples: [
    'rehome keys create --plan free --name "shelter website"',
    'rehome keys create --plan enterprise --per-minute 5000 --per-day 1000000 --name "city of Austin"',
    "rehome keys create --plan free --name widget --read-only",
    "rehome keys create --plan pro --name trial --expires-in 90d --json | jq -r .key",
  ],
  json: issuedSchema,
  settings: ["environment"],
  begins: true,
  async run(io, services, { loaded, json, ...wanted }) {
    await refuseOtherEnvironment(services, loaded);
    const { keys, clock, place } = services;
    const { expiresIn } = wanted;
    const expiresInMs = expiresIn === "never" ? undefined : expiresIn;
    const issued = await keys.create({ ...wanted, expiresInMs });
    const key = issuedJson(issued, clock());
    const ifLost = `rehome keys rotate ${key.id} --grace 0`;
    if (json) return writeSecret(io, jsonDocument(key), ifLost);
    const limits = limitsText(key.limits) + accessText(key);
    io.err(`Made ${key.id} "${printable(key.name)}" (plan ${key.plan}: ${limits}) in ${place}.
This is the secret. It is shown only now:\n`);
    return writeSecret(io, `${key.key}\n`, ifLost);
  },
});

/**
 * Throws `invalid_request` when nobody named the environment and the default is likely to be the
 * wrong one: the server on this store would refuse the secret that is about to be made.
 */
async function refuseOtherEnvironment(
  { keys, place }: Services,
  { config: { environment }, loadedOf }: LoadedConfig,
): Promise<void> {
  if (loadedOf(settings.environment).source !== "default" || !(await keys.areForeign())) return;
  throw new AppError(
    "invalid_request",
    `There are keys in ${place}, but none of the ${environment} environment, which is the default.`,
    {
      hint: `Name the server's environment with --${settings.environment.flag} or ${variableOf(settings.environment)}.`,
    },
  );
}

const defaultGraceMs = dayMs;

const rotate = storeCommand<{ readonly grace: number }, [string]>({
  name: "rotate",
  about: "give a key a new secret; it keeps its counters, plan and bans",
  arguments: [keyArgument()],
  options: [
    durationOption(
      "--grace <duration>",
      "how long the old secret stays valid; 0 ends it at once",
    ).default(defaultGraceMs, "24h"),
  ],
  examples: [
    "rehome keys rotate key_7h2m",
    "rehome keys rotate key_7h2m --grace 0     the old secret leaked",
  ],
  json: issuedSchema,
  settings: ["environment"],
  async run(io, services, { loaded, json, grace }, reference) {
    await refuseOtherEnvironment(services, loaded);
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
    arguments: [keyArgument()],
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
    limitOption("minute"),
    limitOption("day"),
    labelOption("new label"),
    expiryOption("when the key expires, counted from now, such as 90d; never removes the expiry"),
    readOnlyOption("from now on the key can read animals but not add them"),
    readWriteOption("from now on the key can also add animals"),
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
