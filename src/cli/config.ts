import { Command } from "commander";
import { shownValue, sources, variableOf, type LoadedConfig } from "../config.ts";
import { printJson, type Io } from "./io.ts";
import { addJson, json, type Static } from "./json.ts";
import { addAllSettings, configOf } from "./options.ts";
import { stylesOf } from "./terminal/style.ts";
import { printTable } from "./terminal/table.ts";

export const configSchema = json.list(
  json.object({
    setting: json.text("name of the setting: its flag without the dashes"),
    variable: json.text("variable that sets it"),
    value: json.settingValue("value in force; null when there is none. A password is shown as ***"),
    source: json.oneOf(sources, "where the value comes from"),
  }),
);

const help = `
A flag beats the environment, and that beats the default. A REHOME_ variable that is no setting is an error, here and in
every other command.

Examples:
  rehome config
  rehome config --port 9000 --json | jq '.[] | select(.source != "default")'
  cat /etc/default/rehome     what the service of this machine was given`;

/** `rehome config`: every setting, its value and where it comes from. */
export function configCommand(io: Io): Command {
  const command = new Command("config")
    .description("show every setting with its value and where it comes from")
    .addHelpText("after", help);
  addJson(addAllSettings(command, io), configSchema);
  return command.action((options: { json?: true }) => {
    const loaded = configOf(command, io);
    const shown = configJson(loaded);
    if (options.json) {
      printJson(io, shown);
      return;
    }
    const { bold, dim } = stylesOf(io);
    printTable(
      io,
      ["SETTING", { title: "VALUE", flexible: true }, "FROM"],
      shown.map(({ setting, variable, value, source }) => {
        const origin = { flag: `--${setting}`, environment: variable, default: "default" }[source];
        const text = Array.isArray(value) ? value.join(",") || "none" : String(value ?? "none");
        return [setting, text, { text: origin, paint: source === "default" ? dim : bold }];
      }),
    );
  });
}

function configJson({ all }: LoadedConfig): Static<typeof configSchema> {
  return all.map((loaded) => ({
    setting: loaded.setting.flag,
    variable: variableOf(loaded.setting),
    value: shownValue(loaded) ?? null,
    source: loaded.source,
  }));
}
