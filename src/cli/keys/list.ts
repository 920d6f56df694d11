import { Command } from "commander";
import { type ApiKey, keyState } from "../../domain/api-key.ts";
import type { KeyUse } from "../../service/usage.ts";
import { printJson, type Io } from "../io.ts";
import { addJson } from "../json.ts";
import { withServices } from "../open.ts";
import { addSettings, configOf, storeSettings } from "../options.ts";
import { stylesOf } from "../terminal/style.ts";
import { printTable } from "../terminal/table.ts";
import { grouped } from "../terminal/text.ts";
import { keyListSchema, usedKeyJson } from "./json.ts";
import { dayText, statePaint, useBar } from "./shown.ts";

const barCells = 6;

const help = `
TODAY counts the requests of the running UTC day, DAY'S USE shows how much of the day's limit they are. A running server
takes up to one second's worth of requests ahead, and they are counted here.

Examples:
  rehome keys list
  rehome keys list --json | jq '.[] | select(.state == "banned")'`;

export function listCommand(io: Io): Command {
  const command = new Command("list")
    .description("show all keys and how much they are used; never their secrets")
    .addHelpText("after", help);
  addJson(addSettings(command, storeSettings), keyListSchema);
  return command.action(async (options: { json?: true }) => {
    const { config } = configOf(command, io);
    await withServices(config, io, async ({ keys, usage, clock, place }) => {
      const all = await keys.list();
      const uses = await usage.now(all);
      const used = all.flatMap((key, at) => {
        const use = uses[at];
        return use === undefined ? [] : [{ key, use }];
      });
      const nowMs = clock();
      if (options.json) {
        printJson(
          io,
          used.map(({ key, use }) => usedKeyJson(key, use, nowMs)),
        );
        return;
      }
      if (all.length === 0) {
        io.err(
          `There is no key in ${place}. Make one: rehome keys create --plan free --name LABEL\n`,
        );
        return;
      }
      printKeys(io, used, usage.today(), nowMs);
    });
  });
}

interface UsedKey {
  readonly key: ApiKey;
  readonly use: KeyUse;
}

function printKeys(io: Io, keys: readonly UsedKey[], today: number, nowMs: number): void {
  const styles = stylesOf(io);
  const columns = [
    "ID",
    { title: "LABEL", flexible: true },
    "PLAN",
    "STATE",
    "LAST USED",
    { title: "TODAY", align: "right" },
    { title: "DAY'S USE", whole: true },
  ] as const;
  const rows = keys.map(({ key, use }) => {
    const state = keyState(key, nowMs);
    return [
      key.id,
      key.name,
      key.plan,
      { text: state, paint: statePaint(state, styles) },
      dayText(use.lastUsedDay, today),
      grouped(use.counts.dayUsed),
      useBar(use.counts.dayUsed, key.limits.perDay, barCells, styles),
    ];
  });
  printTable(io, columns, rows);
}
