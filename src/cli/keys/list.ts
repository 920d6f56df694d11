import { Command, Option } from "commander";
import { type ApiKey, type KeyState, keyState, keyStates } from "../../domain/api-key.ts";
import { fold } from "../../domain/names.ts";
import type { PlanName } from "../../domain/plan.ts";
import type { UsedKey } from "../../service/usage.ts";
import { printJson, type Io } from "../io.ts";
import { addJson } from "../json.ts";
import { withServices } from "../open.ts";
import {
  addSettings,
  commandHere,
  configOf,
  labelOption,
  planOption,
  storeSettings,
  toMakeKey,
} from "../options.ts";
import { stylesOf } from "../terminal/style.ts";
import { printTable } from "../terminal/table.ts";
import { grouped } from "../terminal/text.ts";
import { keyListSchema, usedKeyJson } from "./json.ts";
import { accessText, dayText, statePaint, useBar } from "./shown.ts";

const barCells = 6;

const help = `
TODAY counts the requests of the current UTC day. DAY'S USE is their share of the daily limit. Both include requests that a
running server has reserved, up to one second of the plan.

Examples:
  rehome keys list
  rehome keys list --plan free --state active --name shelter
  rehome keys list --json | jq '.[] | select(.state == "banned")'`;

export function listCommand(io: Io): Command {
  const command = new Command("list")
    .description("list all keys and their use, without their secrets")
    .addOption(planOption("only those on this plan"))
    .addOption(new Option("--state <state>", "only those in this state").choices([...keyStates]))
    .addOption(labelOption("only those whose label contains this text"))
    .addHelpText("after", help);
  addJson(addSettings(command, storeSettings), keyListSchema);
  return command.action(async (options: Options) => {
    const loaded = configOf(command, io);
    await withServices(loaded.config, io, async ({ keys, usage, clock, place }) => {
      const every = await keys.list();
      const nowMs = clock();
      const used = await usage.nowOfAll(every.filter((key) => isWanted(key, options, nowMs)));
      if (options.json) {
        printJson(
          io,
          used.map(({ key, use }) => usedKeyJson(key, use, nowMs)),
        );
        return;
      }
      if (used.length === 0) {
        io.err(
          every.length > 0
            ? `There is no such key among the ${grouped(every.length)} in ${place}.\n`
            : `There is no key in ${place}. Make one: ${commandHere(toMakeKey, loaded, io)}\n`,
        );
        return;
      }
      printKeys(io, used, usage.today(), nowMs);
    });
  });
}

interface Options {
  readonly plan?: PlanName;
  readonly state?: KeyState;
  readonly name?: string;
  readonly json?: true;
}

function isWanted(key: ApiKey, { plan, state, name }: Options, nowMs: number): boolean {
  return (
    (plan === undefined || key.plan === plan) &&
    (state === undefined || keyState(key, nowMs) === state) &&
    (name === undefined || fold(key.name).includes(fold(name)))
  );
}

function printKeys(io: Io, keys: readonly UsedKey[], today: number, nowMs: number): void {
  const styles = stylesOf(io);
  const columns = [
    { title: "ID" },
    { title: "LABEL", flexible: true },
    { title: "PLAN", optional: true },
    "STATE",
    { title: "LAST USED", optional: true },
    { title: "TODAY", align: "right" },
    { title: "DAY'S USE", optional: true },
  ] as const;
  const rows = keys.map(({ key, use }) => {
    const state = keyState(key, nowMs);
    return [
      key.id,
      key.name,
      key.plan + accessText(key),
      { text: state, paint: statePaint(state, styles) },
      dayText(use.lastUsedDay, today),
      grouped(use.counts.dayUsed),
      useBar(use.counts.dayUsed, key.limits.perDay, barCells, styles),
    ];
  });
  printTable(io, columns, rows);
}
