import type { Command } from "commander";
import { shownValue, sources, variableOf, type LoadedConfig } from "../../config.ts";
import { printJson, json, type Static } from "../json.ts";
import type { Io } from "../../cli/io.ts";
import { beginWithoutStore, commandOf } from "../command.ts";
import { addAllSettings } from "../../cli/command.ts";
import { stylesOf, printTable } from "../table.ts";

const configSchema = json.list(
  json.object({
    setting: json.text("name of the setting: its flag without the dashes"),
    variable: json.text("variable that sets it"),
    value: json.settingValue("current value, or null. A password is shown as ***"),
    source: json.oneOf(sources, "where the value comes from"),
    file: json.orNull(
      json.text("file of this machine's service that sets it; null for other sources"),
    ),
  }),
);

/** `rehome config`: every setting, its value and where it comes from. */
export function configCommand(io: Io): Command {
  const command = commandOf({
    name: "config",
    about: "show every setting with its value and where it comes from",
    remark: `Priority: a flag, then the environment, then the settings of this machine's service,
then the default. The service's settings apply only if no flag and no variable names a
data folder or a database. An unknown REHOME_ variable is an error in every command.`,
    examples: [
      "rehome config",
      `rehome config --port 9000 --json | jq '.[] | select(.source != "default")'`,
      "rehome config --data DIR     the settings for another folder",
    ],
    json: configSchema,
  });
  return addAllSettings(command, io).action((options: { json?: true }) => {
    const loaded = beginWithoutStore(command, io);
    const shown = configJson(loaded);
    if (options.json) {
      printJson(io, shown);
      return;
    }
    const { bold, dim } = stylesOf(io);
    printTable(
      io,
      ["SETTING", { title: "VALUE", flexible: true }, "FROM"],
      shown.map(({ setting, variable, value, source, file }) => {
        const origin = {
          flag: `--${setting}`,
          environment: variable,
          service: `from ${file}`,
          default: "default",
        }[source];
        const text = Array.isArray(value) ? value.join(",") || "none" : String(value ?? "none");
        return [setting, text, { text: origin, paint: source === "default" ? dim : bold }];
      }),
    );
  });
}

function configJson({ all, service }: LoadedConfig): Static<typeof configSchema> {
  return all.map((loaded) => ({
    setting: loaded.setting.flag,
    variable: variableOf(loaded.setting),
    value: shownValue(loaded) ?? null,
    source: loaded.source,
    file: loaded.source === "service" ? (service?.file ?? null) : null,
  }));
}
