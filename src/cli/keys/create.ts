import { Command } from "commander";
import type { PlanName } from "../../domain/plan.ts";
import type { Services } from "../../service/services.ts";
import { type Io, jsonDocument, writeSecret } from "../io.ts";
import { addJson } from "../json.ts";
import { withServices } from "../open.ts";
import {
  addSettings,
  configOf,
  expiryOption,
  labelOption,
  limitOption,
  planOption,
  readOnlyOption,
  readWriteOption,
  storeSettings,
} from "../options.ts";
import { printable } from "../terminal/text.ts";
import { refuseOtherEnvironment } from "./environment.ts";
import { issuedJson, issuedSchema } from "./json.ts";
import { accessText, limitsText } from "./shown.ts";

/** What an operator types of a new key. */
export interface KeyOptions {
  readonly plan: PlanName;
  readonly name: string;
  readonly perMinute?: number;
  readonly perDay?: number;
  readonly expiresIn?: number | "never";
  readonly readOnly?: true;
  readonly json?: true;
}

export function createCommand(io: Io): Command {
  const command = new Command("create")
    .description("make a key and print its secret, which is shown only this once")
    .addOption(planOption().makeOptionMandatory())
    .addOption(
      labelOption("what the key is for, such as the customer's name").makeOptionMandatory(),
    )
    .addOption(limitOption("minute"))
    .addOption(limitOption("day"))
    .addOption(readOnlyOption("the key can read animals but not add them"))
    .addOption(readWriteOption("the key may also add animals, which is the default"))
    .addOption(expiryOption("when the key expires, such as 90d; never by default"))
    .addHelpText(
      "after",
      `
Examples:
  rehome keys create --plan free --name "shelter website"
  rehome keys create --plan enterprise --per-minute 5000 --per-day 1000000 --name "city of Austin"
  rehome keys create --plan free --name widget --read-only
  rehome keys create --plan pro --name trial --expires-in 90d --json | jq -r .key`,
    );
  return addJson(addSettings(command, [...storeSettings, "environment"]), issuedSchema).action(
    (options: KeyOptions) => create(command, io, options),
  );
}

async function create(command: Command, io: Io, options: KeyOptions): Promise<void> {
  const loaded = configOf(command, io);
  const work = async (services: Services) => {
    await refuseOtherEnvironment(services, loaded);
    const { keys, clock, place } = services;
    const { expiresIn } = options;
    const expiresInMs = expiresIn === "never" ? undefined : expiresIn;
    const issued = await keys.create({ ...options, expiresInMs });
    const { key, secret } = issued;
    const ifLost = `rehome keys rotate ${key.id} --grace 0`;
    if (options.json) {
      return writeSecret(io, jsonDocument(issuedJson(issued, clock())), ifLost);
    }
    const limits = limitsText(key) + accessText(key);
    io.err(`Made ${key.id} "${printable(key.name)}" (plan ${key.plan}: ${limits}) in ${place}.\n`);
    io.err("This is the secret. It is shown only now:\n");
    return writeSecret(io, `${secret}\n`, ifLost);
  };
  await withServices(loaded.config, io, work, { begins: true });
}
