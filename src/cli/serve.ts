import { Command } from "commander";
import type { Io } from "./io.ts";
import { requireDescriptors } from "./descriptors.ts";
import { readSettings } from "./command.ts";
import { sayService, workAsService } from "./machine.ts";
import { addAllSettings } from "./options.ts";
import { typedWords } from "./program.ts";

/** `rehome serve`: the service, until it is asked to stop. */
export function serveCommand(io: Io): Command {
  const command = new Command("serve").description("run the service").addHelpText(
    "after",
    `
Examples:
  rehome serve
  rehome serve --host 0.0.0.0 --port 80 --data /var/lib/rehome
  REHOME_PORT=9000 rehome serve --environment staging`,
  );
  return addAllSettings(command, io).action(async () => {
    const { loaded, service } = readSettings(command, io);
    if (service !== undefined) {
      workAsService(service, loaded, typedWords(command), io);
      sayService(service, io);
    }
    for (const feature of io.features) {
      const served = feature.serve?.(loaded, io);
      if (served !== undefined) return served;
    }
    requireDescriptors();
    // Loaded where it is wanted: no other command waits for the web framework.
    const { serve } = await import("./serving.ts");
    return serve(loaded, io);
  });
}
