import { type Command, Option } from "commander";
import type { Io } from "../../cli/io.ts";
import { systemClock } from "../../domain/clock.ts";
import { beginWithoutStore, commandOf } from "../command.ts";
import { printJson } from "../json.ts";
import { addSettings } from "../options.ts";

export function openapiCommand(io: Io): Command {
  const command = commandOf({
    name: "openapi",
    about: "print the OpenAPI document",
    options: [new Option("--yaml", "print YAML instead of JSON")],
    examples: [
      "rehome openapi > openapi.json",
      "rehome openapi --yaml --base-url https://pets.example.org/v1 > openapi.yaml",
    ],
  });
  return addSettings(command, ["baseUrl", "stagingBaseUrl"]).action(async () => {
    const { config } = beginWithoutStore(command, io);
    // Loaded where it is wanted: no other command but serve waits for the web framework.
    const { documentOf, yamlOf } = await import("./document.ts");
    const document = await documentOf({ ...config, clock: systemClock });
    if (command.opts<{ yaml?: boolean }>().yaml === true) io.out(await yamlOf(document));
    else printJson(io, document);
  });
}
